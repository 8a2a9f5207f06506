/// Encodes ``Parameters`` as a query or a form.
///
/// The defaults are AFNetworking's rules:
/// - names are `key=value`, `a[b]` and `a[]`
/// - each value of a set, and null, is written as the bare key
/// - empty containers are omitted
/// - keys are sorted by their UTF-16 code units
/// - booleans are 1 and 0
/// - all characters except `A-Za-z0-9-._~/?` are percent-encoded as UTF-8, and also a `?` at the beginning of the
///   query, which some parsers would drop
///
/// A value that cannot be written, such as a non-finite number, throws ``NetError/Code/badParameter`` with the key in
/// its message. Thread-safe.
///
///     let query = try QueryEncoding(arrays: .repeated, spaces: .plus).query(["tag": ["a b", "c"]])   // tag=a+b&tag=c
public struct QueryEncoding: Sendable {
    /// How the values of an array are named.
    public enum ArrayStyle: Sendable {
        /// `a[]` for each.
        case brackets
        /// `a[0]`, `a[1]`, in order.
        case indexed
        /// `a` for each.
        case repeated
        /// `a` once, with its values joined by commas; commas within them are percent-encoded. An array that contains
        /// containers cannot be joined.
        case commaSeparated
    }

    /// How the values of a nested object are named.
    public enum NestedStyle: Sendable {
        /// `a[b]`.
        case brackets
        /// `a.b`.
        case dots
    }

    /// How booleans are written.
    public enum BooleanStyle: Sendable {
        /// `1` and `0`.
        case numbers
        /// `true` and `false`.
        case words
    }

    /// How spaces are written.
    public enum SpaceStyle: Sendable {
        /// `%20`.
        case percent
        /// `+`.
        case plus
    }

    /// The order of the fields. Arrays keep their order, and sets are sorted, in both cases.
    public enum Order: Sendable {
        /// By name; fields of equal names keep their order.
        case sorted
        /// In their given order.
        case asGiven
    }

    /// The names of array values.
    public var arrays: ArrayStyle
    /// The names of nested values.
    public var nested: NestedStyle
    /// How booleans are written.
    public var booleans: BooleanStyle
    /// How spaces are written, also in names.
    public var spaces: SpaceStyle
    /// The order of the fields.
    public var order: Order
    /// Writes the whole query instead, if it is not `nil`. An error thrown here becomes the ``NetError/underlying``
    /// error of a ``NetError/Code/badParameter``, unless it is a ``NetError``.
    public var encoder: (@Sendable (Parameters) throws -> String)?

    /// Creates an encoding. Each setting has a default.
    public init(
        arrays: ArrayStyle = .brackets, nested: NestedStyle = .brackets, booleans: BooleanStyle = .numbers,
        spaces: SpaceStyle = .percent, order: Order = .sorted,
        encoder: (@Sendable (Parameters) throws -> String)? = nil
    ) {
        self.arrays = arrays
        self.nested = nested
        self.booleans = booleans
        self.spaces = spaces
        self.order = order
        self.encoder = encoder
    }
}

extension QueryEncoding {
    /// Returns the query without `?`; empty if there are no parameters.
    public func query(_ parameters: Parameters) throws(NetError) -> String {
        if let text = try ownText(parameters) {
            return text
        }
        return try encodedText(parameters)
    }

    /// Returns the URL with the query added: before a fragment and after an existing query. An empty query adds no `?`.
    ///
    /// Also throws ``NetError/Code/badParameter`` if an ``encoder`` wrote a `#`, a space or a control character.
    public func url(_ url: String, with parameters: Parameters) throws(NetError) -> String {
        try attachQuery(try query(parameters), to: url)
    }

    /// Returns the query as the bytes of a form (WHATWG URL, 5.1).
    func formBytes(_ parameters: Parameters) throws(NetError) -> [UInt8] {
        if let text = try ownText(parameters) {
            return Array(text.utf8)
        }
        return try encodedBytes(parameters)
    }

    private func ownText(_ parameters: Parameters) throws(NetError) -> String? {
        do {
            return try encoder?(parameters)
        } catch {
            if let error = error as? NetError {
                throw error
            }
            throw NetError(.badParameter, "the parameters' own encoder failed: \(error)", underlying: error)
        }
    }
}
