#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
public import NetKit

/// Exchanges as they stand in a file: what was asked and what came back, without secrets. JSON, to be read and edited.
public struct Recording: Sendable, Codable, Equatable {
    /// A field.
    public struct Field: Sendable, Codable, Equatable {
        /// Its name.
        public var name: String
        /// Its value as text.
        public var value: String
        /// Its value's bytes, which are what counts; nil where the text is UTF-8 and says it all.
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

    /// A body: text where it is UTF-8, else Base64.
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

    /// What was asked.
    public struct Question: Sendable, Codable, Equatable {
        /// The method.
        public var method: String
        /// The absolute URL.
        public var url: String
        /// The fields, for whoever reads the file: they are not compared.
        public var fields: [Field]
        /// The body; nil for none, and for one that was read while it was sent.
        public var body: Content?
    }

    /// What came back.
    public struct Reply: Sendable, Codable, Equatable {
        /// The status.
        public var status: Int
        /// The URL that answered, where redirects led elsewhere.
        public var url: String?
        /// The fields.
        public var fields: [Field]
        /// The body, its content codings undone.
        public var body: Content
        /// The fields after the body.
        public var trailers: [Field]?
    }

    /// How it failed.
    public struct Failure: Sendable, Codable, Equatable {
        /// The number of the error's code.
        public var code: Int32
        /// What a replay says: the code's name, where ``Recorder`` wrote it. The error's own words may hold secrets.
        public var message: String
    }

    /// One request and its end.
    public struct Exchange: Sendable, Codable, Equatable {
        /// What was asked.
        public var request: Question
        /// What came back; nil when it failed.
        public var response: Reply?
        /// How it failed; nil when it did not.
        public var failure: Failure?
    }

    /// The form of the file: 1.
    public var version = 1
    /// In the order in which they were asked.
    public var exchanges: [Exchange] = []

    /// An empty one.
    public init() {}

    /// Reads one.
    ///
    /// Throws ``NetKit/NetError/Code/file`` when there is none to read and ``NetKit/NetError/Code/undecodable`` for what
    /// is none.
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

    /// Writes it, whole or not at all; two recordings of the same exchanges are the same text.
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
    /// A request without its secrets.
    init(_ request: Request<Bytes>, _ body: Bytes?, without redaction: Redaction) {
        let fields = request.sentFields
        method = request.method.rawValue
        url = redaction.hiding(url: request.url)
        self.fields = .init(redaction.hiding(fields))
        self.body = body.map { .init($0, fields["Content-Type"], without: redaction) }
    }
}

extension Recording.Exchange {
    /// How it is called in messages.
    var name: String { "\(request.method) \(request.url)" }

    /// Why it cannot be replayed; nil when it can.
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
