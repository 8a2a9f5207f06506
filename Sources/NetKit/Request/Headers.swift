/// Header fields in order. Names are compared case-insensitively (RFC 9110, 5.1), and a name may occur several times.
/// Values are stored as bytes, and read and set as strings. For values that are not UTF-8, use ``bytes(_:)``.
///
///     var headers: Headers = ["Accept": "application/json"]
///     headers["X-Trace"] = "7f"
public struct Headers: Sendable, ExpressibleByDictionaryLiteral {
    private enum Storage: Sendable {
        case fields([Field])
        // Fields, and names that were set to `nil`. Few headers have such names, so they are stored behind one
        // reference, which keeps copies of a request cheap.
        case withholding(Withholding)
        // The fields of a response, in the memory in which they were received. Strings are created only for the fields
        // that are read.
        case received(any ResponseStorage)
    }

    private final class Withholding: Sendable {
        let fields: [Field]
        let names: [String]

        init(_ fields: [Field], _ names: [String]) {
            self.fields = fields
            self.names = names
        }
    }

    private var storage: Storage

    /// The fields of a request; `nil` for the fields of a response.
    private var listed: [Field]? {
        switch storage {
        case .fields(let fields): fields
        case .withholding(let own): own.fields
        case .received: nil
        }
    }

    /// The memory of the fields of a response; `nil` for the fields of a request.
    var received: (any ResponseStorage)? {
        if case .received(let received) = storage { received } else { nil }
    }

    /// All fields, in order.
    var list: [Field] { listed ?? Array(self) }

    /// The names that were set to `nil`. The agent adds no field with these names.
    private var withheld: [String] {
        if case .withholding(let own) = storage { own.names } else { [] }
    }

    /// Creates headers with these fields, in this order.
    public init(_ fields: [Field] = []) {
        storage = .fields(fields)
    }

    /// Creates headers in the literal's order; a repeated name gives several fields.
    public init(dictionaryLiteral elements: (String, String)...) {
        storage = .fields(elements.map { Field(name: $0.0, value: $0.1) })
    }

    private init(_ fields: [Field], withholding names: [String]) {
        storage = names.isEmpty ? .fields(fields) : .withholding(Withholding(fields, names))
    }

    init(received: any ResponseStorage) {
        storage = .received(received)
    }

    /// The first value with this name.
    /// Setting a value replaces all fields with this name by one field, at the position of the first. Setting `nil`
    /// removes them, and prevents the agent from adding a field with this name.
    public subscript(name: String) -> String? {
        get {
            content(name)?.text
        }
        set {
            replace(name, by: newValue.map { Field(name: name, value: $0) })
        }
    }

    /// Returns the first value with this name.
    func content(_ name: String) -> ByteText? {
        if case .received(let received) = storage {
            return received.headerContent(named: name)
        }
        return listed?.first { $0.name.isEqualIgnoringASCIICase(to: name) }?.content
    }

    /// Replaces all fields with the same name by this field, at the position of the first.
    public mutating func set(_ field: Field) {
        replace(field.name, by: field)
    }

    private mutating func replace(_ name: String, by field: Field?) {
        var fields = Array(self)
        var withheld = withheld
        let index = fields.firstIndex { $0.name.isEqualIgnoringASCIICase(to: name) }
        fields.removeAll { $0.name.isEqualIgnoringASCIICase(to: name) }
        withheld.removeAll { $0.isEqualIgnoringASCIICase(to: name) }
        if let field {
            fields.insert(field, at: index ?? fields.count)
        } else {
            withheld.append(name)
        }
        self = Headers(fields, withholding: withheld)
    }

    /// Returns the values of all fields with this name, in order.
    public func values(named name: String) -> [String] { only([name]).map(\.value) }

    /// Returns the fields with these names, in order. In the usual case there are none, and nothing is allocated.
    func only(_ names: [String]) -> [Field] {
        guard let fields = listed else { return filter { $0.isOne(of: names) } }
        guard let first = fields.indices.first(where: { fields[$0].isOne(of: names) }) else { return [] }
        return fields[first...].filter { $0.isOne(of: names) }
    }

    /// Returns true if there is a field with one of these names.
    func hasAny(_ names: [String]) -> Bool {
        guard let fields = listed else { return contains { $0.isOne(of: names) } }
        for field in fields {
            for name in names where field.name.isEqualIgnoringASCIICase(to: name) {
                return true
            }
        }
        return false
    }

    /// Adds a field at the end, even if its name occurs already.
    public mutating func append(name: String, value: String) {
        append(Field(name: name, value: value))
    }

    /// Adds a field at the end, even if its name occurs already.
    public mutating func append(_ field: Field) {
        self = Headers(Array(self) + [field], withholding: withheld)
    }

    /// Returns these fields, followed by the fields of `other`. A field of `other` is left out if its name occurs here
    /// or was set to `nil` here.
    func filled(from other: Headers) -> Headers {
        if other.isEmpty {
            return self
        }
        if isEmpty && withheld.isEmpty && other.withheld.isEmpty {
            return other  // Most requests have no fields of their own; this avoids a copy.
        }
        let missing = other.filter { candidate in
            !contains { $0.name.isEqualIgnoringASCIICase(to: candidate.name) }
                && !withheld.contains { $0.isEqualIgnoringASCIICase(to: candidate.name) }
        }
        return Headers(Array(self) + missing, withholding: withheld)
    }
}

extension Headers: RandomAccessCollection {
    /// Always 0.
    public var startIndex: Int { 0 }

    /// The number of fields, which is one past the last index.
    public var endIndex: Int {
        switch storage {
        case .fields(let fields): fields.count
        case .withholding(let own): own.fields.count
        case .received(let received): received.headerCount
        }
    }

    /// The field at `position`. Fields are in the order in which they are sent or were received.
    public subscript(position: Int) -> Field {
        switch storage {
        case .fields(let fields): fields[position]
        case .withholding(let own): own.fields[position]
        case .received(let received): received.headerField(at: position)
        }
    }
}

extension Headers: Equatable {
    /// Returns true if both have the same fields in the same order. Names are compared case-insensitively, values by
    /// their bytes.
    public static func == (left: Headers, right: Headers) -> Bool {
        left.count == right.count
            && zip(left, right).allSatisfy {
                $0.name.isEqualIgnoringASCIICase(to: $1.name) && $0.content == $1.content
            }
    }
}

extension String {
    /// Compares names of fields and charsets, independent of the locale.
    package func isEqualIgnoringASCIICase(to other: String) -> Bool {
        func lowered(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte + 32 : byte }
        return utf8.count == other.utf8.count && zip(utf8, other.utf8).allSatisfy { lowered($0) == lowered($1) }
    }
}

extension Headers {
    /// One header field.
    /// HTTP defines no text encoding for field values, and some servers send ISO-8859-1, GBK or Shift_JIS. Therefore
    /// the value is stored as bytes. ``value`` is the text for display; ``bytes`` are the bytes as received or as they
    /// will be sent.
    public struct Field: Sendable, Hashable {
        /// The name, in the case in which it was set or received.
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

        /// The value as text, without surrounding white space. Bytes that are not UTF-8 appear as U+FFFD here, and
        /// unchanged in ``bytes``. Setting the value replaces the bytes.
        public var value: String {
            get { content.text }
            set { content = ByteText(newValue) }
        }

        /// The value's bytes, without surrounding white space.
        public var bytes: Bytes {
            get { Bytes(content.bytes) }
            set { content = ByteText(bytes: Array(newValue)) }
        }

        /// Whether the bytes are UTF-8. If so, ``value`` is exact.
        package var isUTF8: Bool { content.isUTF8 }
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
    /// Returns the first field with this name, for example to copy its exact bytes.
    ///
    ///     if let tag = response.headers.first(named: "ETag") {
    ///         request.headers.set(.init(name: "If-Match", bytes: tag.bytes))
    ///     }
    public func first(named name: String) -> Field? { content(name).map { Field(name: name, content: $0) } }

    /// Returns the bytes of the first value with this name, as received or as they will be sent.
    public func bytes(_ name: String) -> Bytes? { content(name).map { Bytes($0.bytes) } }

    /// Returns the bytes of all values with this name, in order.
    package func allBytes(_ name: String) -> [Bytes] { only([name]).map(\.bytes) }

    /// Returns the values of all fields with this name, with one scalar for each byte; see ``ByteText/byteScalars``.
    func byteScalars(named name: String) -> [String] { only([name]).map(\.content.byteScalars) }

    /// Returns the first value with this name, with one scalar for each byte.
    func byteScalars(_ name: String) -> String? { content(name)?.byteScalars }

    /// Returns the first value with this name as a URL reference, with bytes outside ASCII percent-encoded.
    package func reference(_ name: String) -> String? { content(name)?.urlReference }
}

/// Fields that are sent after a request's body (RFC 9110, 6.5), such as a checksum of the body.
///
///     request.trailers = ["X-Run": "17"]
///     request.trailers = Trailers(named: ["Content-Digest"]) { ["Content-Digest": await upload.digest] }
///
/// Trailers need HTTP/1.1, so a request with trailers uses it, also over TLS. The body is chunked, even if its length is
/// known, and a `Trailer` field announces the names.
///
/// A request with trailers fails before it is sent
/// - with ``NetError/Code/usage`` if it has no body
/// - with ``NetError/Code/badHeader`` if a trailer is needed before the body (RFC 9110, 6.5.1), such as
///   `Content-Length`, `Host`, `Authorization`, `Cookie` or `Content-Type`
/// - with ``NetError/Code/unsupported`` if ``Request/httpVersionPolicy`` requires another version
///
/// A redirect that preserves the body sends the trailers again. They are not sent to another origin.
public struct Trailers: Sendable, ExpressibleByDictionaryLiteral {
    enum Values: Sendable {
        case fixed
        case computed(@Sendable () async throws -> Headers)
    }

    /// The fields; without values if these are computed.
    let fields: Headers
    let values: Values

    /// Creates trailers with fixed values.
    public init(_ fields: Headers) {
        self.fields = fields
        values = .fixed
    }

    /// Creates trailers with fixed values.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(Headers(elements.map { Headers.Field(name: $0, value: $1) }))
    }

    /// Creates trailers whose values are computed after the whole body was read.
    ///
    /// `compute` is called each time the body is sent, in a task with the priority and the task-local values of the
    /// sender. The task is cancelled when the transfer ends. Names without a value are not sent. If `compute` throws an
    /// error, or returns a field that was not named, the request fails with ``NetError/Code/bodySource``.
    /// - Parameters:
    ///   - names: the names, which are announced before the body.
    ///   - compute: returns the fields.
    public init(named names: [String], compute: @escaping @Sendable () async throws -> Headers) {
        fields = Headers(names.map { Headers.Field(name: $0, value: "") })
        values = .computed(compute)
    }
}

extension Request {
    /// The fields that are sent after the body; `nil` sends none.
    public var trailers: Trailers? {
        get { storage.value.optionalStorage?.value.trailers }
        set { content.optionalSettings.trailers = newValue }
    }

    mutating func dropTrailers() {
        if trailers != nil {
            trailers = nil
        }
    }
}
