extension Headers {
    /// One field.
    ///
    /// A value is bytes: HTTP does not say in which encoding, and some servers send ISO-8859-1, GBK or Shift_JIS.
    /// ``value`` is a view for display, ``bytes`` is what came, and what is sent.
    public struct Field: Sendable, Hashable {
        /// The name as it was spelled.
        public var name: String
        var content: ByteText

        /// A field.
        public init(name: String, value: String) {
            self.name = name
            content = ByteText(value)
        }

        /// A field with a value that need not be UTF-8.
        public init(name: String, bytes: Bytes) {
            self.init(name: name, content: ByteText(bytes: Array(bytes)))
        }

        init(name: String, content: ByteText) {
            self.name = name
            self.content = content
        }

        /// The value as text, without the white space around it. What is not UTF-8 is shown as U+FFFD here; ``bytes``
        /// has it as it is. Setting it replaces the bytes.
        public var value: String {
            get { content.text }
            set { content = ByteText(newValue) }
        }

        /// The value's bytes, without the white space around them.
        public var bytes: Bytes {
            get { Bytes(content.bytes) }
            set { content = ByteText(bytes: Array(newValue)) }
        }

        /// Whether ``value`` is all that ``bytes`` says.
        public var isUTF8: Bool { content.isUTF8 }
    }
}

extension Headers.Field {
    /// The same value under another name.
    func renamed(_ name: String) -> Headers.Field {
        Headers.Field(name: name, content: content)
    }

    func isOne(of names: [String]) -> Bool {
        names.contains { name.isEqualIgnoringASCIICase(to: $0) }
    }
}

extension Headers {
    /// The first field of this name, to be copied with its bytes.
    ///
    ///     if let tag = response.headers.first(named: "ETag") {
    ///         request.headers.set(.init(name: "If-Match", bytes: tag.bytes))
    ///     }
    public func first(named name: String) -> Field? { content(name).map { Field(name: name, content: $0) } }

    /// The bytes of the first value of this name, as they came or as they are sent.
    public func bytes(_ name: String) -> Bytes? { content(name).map { Bytes($0.bytes) } }

    /// The bytes of every value of this name, in order.
    public func allBytes(_ name: String) -> [Bytes] { only([name]).map(\.bytes) }

    /// Every value of this name with one scalar for each byte, see ``ByteText/byteScalars``.
    func byteScalars(named name: String) -> [String] { only([name]).map(\.content.byteScalars) }

    /// The first value of this name with one scalar for each byte.
    func byteScalars(_ name: String) -> String? { content(name)?.byteScalars }

    /// The first value of this name as a reference to a URL: what is not ASCII is percent-encoded byte by byte.
    package func reference(_ name: String) -> String? { content(name)?.urlReference }
}
