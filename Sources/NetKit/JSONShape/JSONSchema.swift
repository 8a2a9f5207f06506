/// A schema of JSON Schema 2020-12. It is compiled when it is created, and copies share the result. Thread-safe.
///
///     let schema = try JSONSchema(#"{"properties": {"age": {"type": "integer", "minimum": 0}}}"#)
///     let request = Request<Person>("people/1").expecting(schema: schema)
///
/// docs/json-schema.md describes what is supported, and when a check ends.
public struct JSONSchema: Sendable {
    /// The compiled schema.
    let storage: any SchemaStorage

    /// Compiles a schema.
    ///
    /// - Parameters:
    ///   - text: the schema.
    ///   - uri: the absolute URI of the schema, which its references are relative to.
    ///   - documents: the documents that references may lead to, by their absolute URIs. Nothing is loaded.
    ///   - assertsFormats: whether `format` is an assertion. By default it has no effect.
    /// - Throws: ``NetError/Code/badShape`` with the location of an error in the schema, and ``NetError/Code/tooLarge``.
    public init(
        _ text: String, uri: String? = nil, documents: [String: String] = [:], assertsFormats: Bool = false
    ) throws(NetError) {
        storage = try makeSchemaStorage(text, uri: uri, documents: documents, assertsFormats: assertsFormats)
    }
}

/// A compiled schema, which the C core allocates.
protocol SchemaStorage: AnyObject, Sendable {}

/// The JSON that the body of a response must contain. The body is checked while it arrives.
public struct JSONExpectation: Sendable {
    /// The shape of the JSON. If `nil`, any shape is accepted.
    public var shape: JSONShape?
    /// The schema that the JSON must match, instead of a shape. If both are set, requests throw
    /// ``NetError/Code/usage``.
    public var schema: JSONSchema?
    /// Whether the check is as lenient as YTKNetwork's. Then null is accepted for any member, and a boolean for a
    /// number.
    public var isLenient = false
    /// The number of mismatches after which the transfer ends (1), at most 1000.
    public var maxMismatches = 1
    /// The rules for accepted JSON.
    public var rules = JSONRules()
    /// Whether an empty or blank body is accepted.
    public var allowsEmptyBody = false

    /// Creates an expectation with a shape or a schema. All other properties have their default values.
    public init(_ shape: JSONShape? = nil, schema: JSONSchema? = nil) {
        self.shape = shape
        self.schema = schema
    }
}

extension JSONExpectation {
    /// Returns true if every body that meets this expectation also meets the other one. Then a body that was checked
    /// with this one need not be checked again.
    func covers(_ other: JSONExpectation) -> Bool {
        guard rules == other.rules, !allowsEmptyBody || other.allowsEmptyBody else { return false }
        if let otherSchema = other.schema, schema?.storage !== otherSchema.storage { return false }
        guard let otherShape = other.shape else { return true }
        guard let shape, isLenient == other.isLenient, otherShape.fault == nil else { return false }
        return shape.slot === otherShape.slot || shape.tree == otherShape.tree
    }
}

/// An expectation, stored by reference.
final class ExpectationStorage: Sendable {
    let value: JSONExpectation

    init(_ value: JSONExpectation) {
        self.value = value
    }
}
