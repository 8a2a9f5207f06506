#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
public import NetKit

/// Recorded requests and responses, without secrets, that can be stored in a file. The format is JSON that can be read
/// and edited.
public struct Recording: Sendable, Codable, Equatable {
    /// A header field.
    public struct Field: Sendable, Codable, Equatable {
        /// The name.
        public var name: String
        /// The value as text.
        public var value: String
        /// The value's bytes if they are not UTF-8; otherwise `nil`. They take precedence over ``value``.
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

    /// A body. It is stored as text if it is UTF-8, otherwise as Base64.
    public struct Content: Sendable, Codable, Equatable {
        /// The body as text, if it is UTF-8.
        public var text: String?
        /// The bytes of the body, if they are not UTF-8.
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
        /// The header fields. They are only for information, because requests are matched without them.
        public var fields: [Field]
        /// The body. `nil` if there was none, or if it could be read only once or had a content coding.
        public var body: Content?
    }

    /// The recorded response.
    public struct Reply: Sendable, Codable, Equatable {
        /// The status.
        public var status: Int
        /// The final URL, if the request was redirected.
        public var url: String?
        /// The header fields.
        public var fields: [Field]
        /// The body, with its content codings removed.
        public var body: Content
        /// The trailer fields.
        public var trailers: [Field]?
    }

    /// The recorded error.
    public struct Failure: Sendable, Codable, Equatable {
        /// The number of the error's code.
        public var code: Int32
        /// The message of the replayed error. ``Recorder`` stores the name of the code instead of the original message,
        /// which may contain secrets.
        public var message: String
    }

    /// A request, and its response or error.
    public struct Exchange: Sendable, Codable, Equatable {
        /// The request.
        public var request: Question
        /// The response; `nil` if the transfer failed.
        public var response: Reply?
        /// The error; `nil` if the transfer succeeded.
        public var failure: Failure?
    }

    /// The version of the file format, which is 1.
    public var version = 1
    /// The transfers, in the order of their requests.
    public var exchanges: [Exchange] = []

    /// Creates an empty recording.
    public init() {}

    /// Reads a recording from a file.
    ///
    /// Throws ``NetKit/NetError/Code/file`` if the file cannot be read, and ``NetKit/NetError/Code/decoding`` if it
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
            throw NetError(.decoding, "'\(path)' is not a recording: \(error)", underlying: error)
        }
        if version != 1 {
            throw NetError(.decoding, "'\(path)' is a recording of version \(version), not 1")
        }
        for (index, exchange) in exchanges.enumerated() {
            if let fault = exchange.fault {
                throw NetError(.decoding, "'\(path)': exchanges[\(index)], \(exchange.name), \(fault)")
            }
        }
    }

    /// Writes the recording to a file atomically. Equal recordings give the same text.
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
    /// Creates the record of a request, with its secrets hidden.
    init(_ request: Request<Bytes>, _ body: Bytes?, without redaction: Redaction) {
        let fields = request.sentFields
        method = request.method.rawValue
        url = redaction.hiding(url: request.url)
        self.fields = .init(redaction.hiding(fields))
        self.body = body.map { .init($0, fields["Content-Type"], without: redaction) }
    }
}

extension Recording.Exchange {
    /// The method and URL of the request, for messages.
    var name: String { "\(request.method) \(request.url)" }

    /// The reason why the transfer cannot be replayed, or `nil` if it can.
    var fault: String? {
        switch (response, failure) {
        case (nil, nil): "has neither a response nor a failure"
        case (.some, .some): "has both a response and a failure"
        case (let response?, nil) where !(200...999).contains(response.status):
            "has the status \(response.status), which is not a final status"
        case (nil, let failure?) where failure.code == 0: "has a failure with code 0, which is not an error"
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
