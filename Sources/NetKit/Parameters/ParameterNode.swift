#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A node of the tree of parameters that ``NodeEncoder`` builds.
final class ParameterNode {
    private enum Content {
        case nothing
        case value(Parameters)
        case fields([(name: String, node: ParameterNode)])
        case values([ParameterNode])
    }

    private var content = Content.nothing
    /// The index of each field.
    private var indices: [String: Int] = [:]
    private var isSet = false
    /// Whether a set is encoded as an array in a fixed order.
    private var sortsSets = false
    /// The origin of the names of the fields.
    private var spelling = Parameters.Field.Spelling.given
    /// Whether the node encodes a dictionary. If so, the key strategy does not rename its keys, and they are sorted
    /// because they have no order.
    private(set) var isDictionary = false

    /// The encoded value. If the value encoded nothing, it is an object without fields.
    var parameters: Parameters {
        switch content {
        case .nothing: return .object([])
        case .value(let value): return value
        case .fields(let fields):
            let members = fields.map { field in
                var member = Parameters.Field(name: field.name, value: field.node.parameters)
                member.spelling = isDictionary ? .given : spelling
                return member
            }
            return .object(isDictionary ? members.sorted { $0.name < $1.name } : members)
        case .values(let nodes):
            let values = nodes.map(\.parameters)
            if isSet {
                return sortsSets ? .array(Self.sorted(values)) : .set(Set(values))
            }
            // A dictionary whose keys are not strings is encoded as alternating keys and values.
            return .array(isDictionary ? Self.sortedPairs(values) : values)
        }
    }

    /// Returns the values of a set in a fixed order: integers by value, then everything else by its JSON text.
    static func sorted(_ values: [Parameters]) -> [Parameters] {
        values.map { ($0, $0.sortKey) }.sorted { $0.1 < $1.1 }.map(\.0)
    }

    private static func sortedPairs(_ values: [Parameters]) -> [Parameters] {
        let pairs = stride(from: 0, to: values.count - 1, by: 2).map { (values[$0], values[$0 + 1]) }
        guard pairs.count * 2 == values.count else { return values }
        let keyed = pairs.map { ($0, $0.0.sortKey) }.sorted { $0.1 < $1.1 }
        return keyed.flatMap { [$0.0.0, $0.0.1] }
    }

    var count: Int {
        if case .values(let nodes) = content { nodes.count } else { 0 }
    }

    func set(_ value: Parameters) {
        content = .value(value)
    }

    /// Makes the node an object, if it is not one yet.
    func beginFields() {
        if case .fields = content { return }
        content = .fields([])
    }

    /// Makes the node an array, if it is not one yet.
    func beginValues() {
        if case .values = content { return }
        content = .values([])
    }

    /// Returns a new node for a field. If a field with this name exists, its node is replaced at the same position.
    func field(_ name: String) -> ParameterNode {
        let node = ParameterNode()
        guard case .fields(var fields) = content else { return node }
        content = .nothing
        if let index = indices[name] {
            fields[index].node = node
        } else {
            indices[name] = fields.count
            fields.append((name, node))
        }
        content = .fields(fields)
        return node
    }

    /// Appends a node and returns it.
    func element() -> ParameterNode {
        let node = ParameterNode()
        guard case .values(var nodes) = content else { return node }
        content = .nothing
        nodes.append(node)
        content = .values(nodes)
        return node
    }

    /// Encodes a value, which becomes the content of this node.
    func encode(_ value: some Encodable, at path: [any CodingKey], by encoder: ParameterEncoder) throws {
        spelling = encoder.isDeferring ? .declared : .given
        if let parameters = try specialValue(value, at: path, by: encoder) {
            set(parameters)
            return
        }
        isSet = value is any MarkedSet
        sortsSets = encoder.isForJSON
        isDictionary = value is any MarkedDictionary
        try value.encode(to: NodeEncoder(node: self, codingPath: path, strategy: encoder))
    }

    /// Returns the parameters of a value of a type that the encoder handles itself, or `nil` for other types.
    private func specialValue<Value: Encodable>(
        _ value: Value, at path: [any CodingKey], by encoder: ParameterEncoder
    ) throws -> Parameters? {
        // Comparing types is faster than casting.
        if Value.self == Parameters.self {
            return value as? Parameters
        }
        if Value.self == JSONValue.self {
            return (value as? JSONValue)?.parameters
        }
        return switch value {
        case let value as Date: try encoder.parameters(of: value, at: path)
        case let value as Data: try encoder.parameters(of: value)
        case let value as URL: .string(value.absoluteString)
        case let value as Decimal: .number(value.description)
        default: nil
        }
    }
}

/// Sorts integers by value, and everything else by its JSON text.
private struct SortKey: Comparable {
    let integer: Int64?
    let text: [UInt8]

    static func < (left: SortKey, right: SortKey) -> Bool {
        switch (left.integer, right.integer) {
        case (let one?, let other?): one < other
        case (_?, nil): true
        case (nil, _?): false
        case (nil, nil): left.text.lexicographicallyPrecedes(right.text)
        }
    }
}

extension Parameters {
    fileprivate var sortKey: SortKey {
        if case .integer(let value) = self {
            return SortKey(integer: value, text: [])
        }
        let text = try? jsonText(style: .sorted)
        return SortKey(integer: nil, text: text.map { Array($0) } ?? Array("\(self)".utf8))
    }
}

// Markers for `Set` and `Dictionary`. Generic code cannot test for these types themselves, because they have type
// parameters.
private protocol MarkedSet {}
extension Set: MarkedSet {}
private protocol MarkedDictionary {}
extension Dictionary: MarkedDictionary {}

/// A key that is a name or an index.
struct NameKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(stringValue: String) {
        self.init(stringValue)
    }

    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }
}

extension Parameters {
    /// Creates an integer. All its digits are kept, even if it has more than 64 bits.
    init(integer value: some BinaryInteger) {
        self = Int64(exactly: value).map(Parameters.integer) ?? .number(String(value))
    }

    /// Creates a number from a type narrower than `Double`. It is written with the fewest digits that parse to the same
    /// value.
    init(shortest value: Float) {
        // The description has the fewest digits, but contains ".0" and "e+", as in "1.0" and "1e+20". The `Double` that
        // it parses to is written without them.
        guard value.isFinite, let parsed = Double(value.description), Double(value) != parsed else {
            self = .double(Double(value))
            return
        }
        self = .double(parsed)
    }
}
