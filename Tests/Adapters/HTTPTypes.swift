// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Declares the part of swift-http-types that the adapter uses.
public struct HTTPField: Sendable {
    public struct Name: Sendable {
        public let rawName: String

        public init?(_ name: String) {
            rawName = name
        }
    }

    public var name: Name
    public var value: String

    public init(name: Name, value: String) {
        self.name = name
        self.value = value
    }

    public init(name: Name, value: some Collection<UInt8>) {
        self.init(name: name, value: String(decoding: value, as: UTF8.self))
    }

    public func withUnsafeBytesOfValue<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeBufferPointer(start: nil, count: 0))
    }
}

/// Declares the part of swift-http-types that the adapter uses.
public struct HTTPFields: Sendable, RandomAccessCollection {
    private var fields: [HTTPField] = []
    public var startIndex: Int { fields.startIndex }
    public var endIndex: Int { fields.endIndex }

    public init() {}

    public subscript(position: Int) -> HTTPField { fields[position] }

    public mutating func append(_ field: HTTPField) {
        fields.append(field)
    }
}

/// Declares the part of swift-http-types that the adapter uses.
public struct HTTPRequest: Sendable {
    public struct Method: Sendable {
        public let rawValue: String
    }

    public var method: Method
    public var scheme: String?
    public var authority: String?
    public var path: String?
    public var headerFields: HTTPFields
}

/// Declares the part of swift-http-types that the adapter uses.
public struct HTTPResponse: Sendable {
    public struct Status: Sendable {
        public init(code: Int, reasonPhrase: String = "") {}
    }

    public init(status: Status, headerFields: HTTPFields = .init()) {}
}
