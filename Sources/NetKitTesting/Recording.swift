#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
public import NetKit

/// Transfers as stored in a file: requests and responses without secrets. The format is JSON that can be read and
/// edited.
public struct Recording: Sendable, Codable, Equatable {
    /// A field.
    public struct Field: Sendable, Codable, Equatable {
        /// The name.
        public var name: String
        /// The value as text.
        public var value: String
        /// The value's bytes, which take precedence; `nil` if the value is UTF-8.
        public var base64: Data?

        init(_ field: Headers.Field) {
            name = field.name
            value = field.value
            base64 = field.isUTF8 ? nil : field.bytes.data
        }

        fileprivate var header: Headers.Field {
            base64.map { Headers.Field(name: name, bytes: Bytes($0)) } ?? Headers.Field(name: name, value: value)
        }
    }

    /// A body: text if it is UTF-8, otherwise Base64.
    public struct Content: Sendable, Codable, Equatable {
        /// The text.
        public var text: String?
        /// The bytes.
        public var base64: Data?

        init(_ bytes: Bytes) {
            text = String(validating: Array(bytes), as: UTF8.self)
            base64 = text == nil ? bytes.data : nil
        }

        init(text: String) {
            self.text = text
        }

        var bytes: Bytes {
            text.map { Bytes(Array($0.utf8)) } ?? base64.map { Bytes($0) } ?? []
        }
    }

    /// The recorded request.
    public struct Question: Sendable, Codable, Equatable {
        /// The method.
        public var method: String
        /// The absolute URL.
        public var url: String
        /// The fields, for information only: they are not compared.
        public var fields: [Field]
        /// The body; `nil` for none, and for a body that was read while it was sent.
        public var body: Content?
    }

    /// The recorded response.
    public struct Reply: Sendable, Codable, Equatable {
        /// The status.
        public var status: Int
        /// The final URL, if redirects led to another one.
        public var url: String?
        /// The fields.
        public var fields: [Field]
        /// The body, with its content codings removed.
        public var body: Content
        /// The trailers.
        public var trailers: [Field]?
    }

    /// The recorded error.
    public struct Failure: Sendable, Codable, Equatable {
        /// The number of the error's code.
        public var code: Int32
        /// The message of the replayed error. ``Recorder`` writes the name of the code, because the original message
        /// may contain secrets.
        public var message: String
    }

    /// One request and its end.
    public struct Exchange: Sendable, Codable, Equatable {
        /// The request.
        public var request: Question
        /// The response; `nil` if the transfer failed.
        public var response: Reply?
        /// The error; `nil` if the transfer succeeded.
        public var failure: Failure?
    }

    /// The version of the file format: 1.
    public var version = 1
    /// The transfers, in the order of their requests.
    public var exchanges: [Exchange] = []

    /// Creates an empty recording.
    public init() {}

    /// Reads a recording.
    ///
    /// Throws ``NetKit/NetError/Code/file`` if the file cannot be read, and ``NetKit/NetError/Code/undecodable`` if it
    /// is not a recording.
    public init(contentsOf path: String) throws(NetError) {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw NetError(.file, "the recording cannot be read: \(error)", underlying: error)
        }
        do {
            self = try JSONDecoder().decode(Self.self, from: data)
        } catch {
            throw NetError(.undecodable, "'\(path)' is no recording: \(error)", underlying: error)
        }
        if version != 1 {
            throw NetError(.undecodable, "'\(path)' is a recording of version \(version), not 1")
        }
        for (index, exchange) in exchanges.enumerated() {
            if let fault = exchange.fault {
                throw NetError(.undecodable, "'\(path)': exchanges[\(index)], \(exchange.name), \(fault)")
            }
        }
    }

    /// Writes the recording atomically. Two recordings of the same transfers give the same text.
    public func write(to path: String) throws(NetError) {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try encoder.encode(self).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw NetError(.file, "the recording cannot be written: \(error)", underlying: error)
        }
    }
}

extension Recording.Question {
    /// Creates a request without its secrets.
    init(_ request: Request<Bytes>, _ body: Bytes?, without redaction: Redaction) {
        let fields = request.sentFields
        method = request.method.rawValue
        url = redaction.hiding(url: request.url)
        self.fields = .init(redaction.hiding(fields))
        self.body = body.map { .init($0, fields["Content-Type"], without: redaction) }
    }
}

extension Recording.Exchange {
    /// The request's name in messages.
    var name: String { "\(request.method) \(request.url)" }

    /// Why it cannot be replayed, or `nil` if it can.
    var fault: String? {
        switch (response, failure) {
        case (nil, nil): "has neither a response nor a failure"
        case (.some, .some): "has both a response and a failure"
        case (let response?, nil) where !(200...999).contains(response.status):
            "has the status \(response.status), which is no final one"
        case (nil, let failure?) where failure.code == 0: "has a failure of the code 0, which is no error"
        default: nil
        }
    }
}

extension [Recording.Field] {
    init(_ headers: Headers) {
        self = headers.map { Recording.Field($0) }
    }

    var headers: Headers { Headers(map(\.header)) }
}
