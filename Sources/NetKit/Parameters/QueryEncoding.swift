/// Encodes ``Parameters`` as a query or a form.
///
/// The defaults are AFNetworking's rules:
/// - nested objects are written as `a[b]=value`, and arrays as `a[]=value`
/// - the values of a set are all written with the set's own key, and null is written as a key without `=`
/// - empty containers are omitted
/// - keys are sorted by their UTF-16 code units
/// - booleans are written as 1 and 0
/// - all characters except `A-Za-z0-9-._~/?` are percent-encoded as UTF-8. A `?` at the beginning of the query is
///   encoded too, because some parsers would drop it
///
/// A value that cannot be written, such as a non-finite number, throws ``NetError/Code/badParameter`` with the key in
/// its message. Thread-safe.
///
///     let query = try QueryEncoding(arrays: .repeated, spaces: .plus).query(["tag": ["a b", "c"]])   // tag=a+b&tag=c
public struct QueryEncoding: Sendable {
    /// How the values of an array are named.
    public enum ArrayStyle: Sendable {
        /// Each value is named `a[]`.
        case brackets
        /// The values are named `a[0]`, `a[1]` and so on.
        case indexed
        /// Each value is named `a`.
        case repeated
        /// The values are joined by commas under one name `a`. Commas within a value are percent-encoded. An array that
        /// contains objects, arrays or sets is an error.
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

    /// The order of the fields. In both cases, arrays keep their order and sets are sorted.
    public enum Order: Sendable {
        /// Fields are sorted by name. Fields with equal names keep their order.
        case sorted
        /// Fields keep their given order.
        case asGiven
    }

    package var arrays: ArrayStyle
    package var nested: NestedStyle
    package var booleans: BooleanStyle
    package var spaces: SpaceStyle
    package var order: Order
    package var encoder: (@Sendable (Parameters) throws -> String)?

    /// Creates an encoding. Each setting has a default.
    ///
    /// - Parameters:
    ///   - arrays: how the values of an array are named.
    ///   - nested: how the values of a nested object are named.
    ///   - booleans: how booleans are written.
    ///   - spaces: how spaces are written, also in names.
    ///   - order: the order of the fields.
    ///   - encoder: a closure that writes the whole query. If it is set, the other settings have no effect. A
    ///     ``NetError`` that it throws is thrown unchanged. Any other error becomes the ``NetError/underlying`` error
    ///     of ``NetError/Code/badParameter``.
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
    /// Returns the query without a leading `?`. It is empty if there are no parameters.
    public func query(_ parameters: Parameters) throws(NetError) -> String {
        if let text = try customText(parameters) {
            return text
        }
        return try encodedText(parameters)
    }

    /// Returns the URL with the parameters added to its query. A fragment stays at the end of the URL. If the
    /// parameters give an empty query, the URL is unchanged.
    ///
    /// Also throws ``NetError/Code/badParameter`` if the `encoder` returned text with a `#`, a space or a control
    /// character.
    public func url(_ url: String, with parameters: Parameters) throws(NetError) -> String {
        try attachQuery(try query(parameters), to: url)
    }

    /// Returns the query as the bytes of a form (WHATWG URL, 5.1).
    func formBytes(_ parameters: Parameters) throws(NetError) -> [UInt8] {
        if let text = try customText(parameters) {
            return Array(text.utf8)
        }
        return try encodedBytes(parameters)
    }

    private func customText(_ parameters: Parameters) throws(NetError) -> String? {
        do {
            return try encoder?(parameters)
        } catch {
            if let error = error as? NetError {
                throw error
            }
            throw NetError(.badParameter, "the custom parameter encoder failed: \(error)", underlying: error)
        }
    }
}
