extension Headers {
    /// One header field.
    ///
    /// A value is bytes: HTTP does not define their encoding, and some servers send ISO-8859-1, GBK or Shift_JIS.
    /// ``value`` is a view for display. ``bytes`` are the bytes that were received, or will be sent.
    public struct Field: Sendable, Hashable {
        /// The name in its original spelling.
        public var name: String
        var content: ByteText

        /// Creates a field.
        public init(name: String, value: String) {
            self.name = name
            content = ByteText(value)
        }

        /// Creates a field with a value that need not be UTF-8.
        public init(name: String, bytes: Bytes) {
            self.init(name: name, content: ByteText(bytes: Array(bytes)))
        }

        init(name: String, content: ByteText) {
            self.name = name
            self.content = content
        }

        /// The value as text, without white space around it. Bytes that are not UTF-8 appear as U+FFFD; ``bytes`` has
        /// them unchanged. Setting the value replaces the bytes.
        public var value: String {
            get { content.text }
            set { content = ByteText(newValue) }
        }

        /// The value's bytes, without white space around them.
        public var bytes: Bytes {
            get { Bytes(content.bytes) }
            set { content = ByteText(bytes: Array(newValue)) }
        }

        /// Whether the bytes are UTF-8, so that ``value`` loses nothing.
        public var isUTF8: Bool { content.isUTF8 }
    }
}

extension Headers.Field {
    /// Returns the same value with another name.
    func renamed(_ name: String) -> Headers.Field {
        Headers.Field(name: name, content: content)
    }

    func isOne(of names: [String]) -> Bool {
        names.contains { name.isEqualIgnoringASCIICase(to: $0) }
    }
}

extension Headers {
    /// Returns the first field with this name, for example to copy it with its bytes.
    ///
    ///     if let tag = response.headers.first(named: "ETag") {
    ///         request.headers.set(.init(name: "If-Match", bytes: tag.bytes))
    ///     }
    public func first(named name: String) -> Field? { content(name).map { Field(name: name, content: $0) } }

    /// Returns the bytes of the first value with this name, as received or as they will be sent.
    public func bytes(_ name: String) -> Bytes? { content(name).map { Bytes($0.bytes) } }

    /// Returns the bytes of every value with this name, in order.
    public func allBytes(_ name: String) -> [Bytes] { only([name]).map(\.bytes) }

    /// Returns every value with this name, with one scalar for each byte; see ``ByteText/byteScalars``.
    func byteScalars(named name: String) -> [String] { only([name]).map(\.content.byteScalars) }

    /// Returns the first value with this name, with one scalar for each byte.
    func byteScalars(_ name: String) -> String? { content(name)?.byteScalars }

    /// Returns the first value with this name as a URL reference, with bytes outside ASCII percent-encoded.
    package func reference(_ name: String) -> String? { content(name)?.urlReference }
}
