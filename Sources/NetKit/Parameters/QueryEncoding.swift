/// How ``Parameters`` become a query or a form.
///
/// The defaults are AFNetworking's rules: `key=value`, `a[b]`, `a[]`, the bare key for each value of a set and for null,
/// nothing for empty containers, keys in the order of their UTF-16 code units, booleans as 1 and 0, and everything but
/// `A-Za-z0-9-._~/?` percent-escaped as UTF-8; a `?` that would begin the whole query too, as some parsers would drop it.
///
///     let query = try QueryEncoding(arrays: .repeated, spaces: .plus).query(["tag": ["a b", "c"]])   // tag=a+b&tag=c
///
/// A value that cannot be written, such as a number that is not finite, throws ``NetError/Code/badParameter`` with the
/// key in its message. Thread-safe.
public struct QueryEncoding: Sendable {
    /// How the values of an array are named.
    public enum ArrayStyle: Sendable {
        /// `a[]` for each.
        case brackets
        /// `a[0]`, `a[1]`, in order.
        case indexed
        /// `a` for each.
        case repeated
        /// `a` once, with its values joined by commas; the commas within them are escaped. An array that holds
        /// containers cannot be joined.
        case commaSeparated
    }

    /// How the values of an object inside another one are named.
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

    /// Which field comes first. Arrays keep their order, and sets are sorted, in either case.
    public enum Order: Sendable {
        /// Fields by name; equal names as they were given.
        case sorted
        /// As they were given.
        case asGiven
    }

    /// Names in arrays.
    public var arrays: ArrayStyle
    /// Names in objects.
    public var nested: NestedStyle
    /// Booleans.
    public var booleans: BooleanStyle
    /// Spaces, in names too.
    public var spaces: SpaceStyle
    /// Which comes first.
    public var order: Order
    /// Writes the whole query instead, when it is not nil. What it throws is the ``NetError/underlying`` error of a
    /// ``NetError/Code/badParameter``, unless it is a ``NetError`` itself.
    public var encoder: (@Sendable (Parameters) throws -> String)?

    /// The default, but for what is named.
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
    /// The query, without a `?`; empty when there is none.
    public func query(_ parameters: Parameters) throws(NetError) -> String {
        if let text = try ownText(parameters) {
            return text
        }
        return try encodedText(parameters)
    }

    /// The URL with the query in its place: before a fragment, behind a query that is there already. No bare `?` is left.
    ///
    /// Throws ``NetError/Code/badParameter`` too when an ``encoder`` wrote a `#`, a space or a control character.
    public func url(_ url: String, with parameters: Parameters) throws(NetError) -> String {
        try attachQuery(try query(parameters), to: url)
    }

    /// The query as the bytes of a form (WHATWG URL, 5.1).
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
