#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A node of a tree of parameters during encoding.
final class ParameterNode {
    private enum Content {
        case nothing
        case value(Parameters)
        case fields([(name: String, node: ParameterNode)])
        case values([ParameterNode])
    }

    private var content = Content.nothing
    /// The index of each field.
    private var places: [String: Int] = [:]
    private var isSet = false
    /// Whether a set is encoded as an array in a fixed order.
    private var sortsSets = false
    /// Whether the keys are those of a dictionary: they are data, and have no order.
    private(set) var isDictionary = false

    /// The encoded value. A value that encoded nothing is an object without fields.
    var parameters: Parameters {
        switch content {
        case .nothing: return .object([])
        case .value(let value): return value
        case .fields(let fields):
            let made = fields.map { Parameters.Field(name: $0.name, value: $0.node.parameters) }
            return .object(isDictionary ? made.sorted { $0.name < $1.name } : made)
        case .values(let nodes):
            let values = nodes.map(\.parameters)
            if isSet {
                return sortsSets ? .array(Self.sorted(values)) : .set(Set(values))
            }
            // A dictionary whose keys are not strings is encoded as alternating keys and values.
            return .array(isDictionary ? Self.sortedPairs(values) : values)
        }
    }

    private static func sorted(_ values: [Parameters]) -> [Parameters] {
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

    func put(_ value: Parameters) {
        content = .value(value)
    }

    /// Makes the node an object.
    func beginFields() {
        if case .fields = content { return }
        content = .fields([])
    }

    /// Makes the node an array.
    func beginValues() {
        if case .values = content { return }
        content = .values([])
    }

    /// Returns the node of a field. An existing one is cleared and keeps its position.
    func field(_ name: String) -> ParameterNode {
        let node = ParameterNode()
        guard case .fields(var fields) = content else { return node }
        content = .nothing
        if let place = places[name] {
            fields[place].node = node
        } else {
            places[name] = fields.count
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

    /// Encodes a value into the node.
    func take(_ value: some Encodable, at path: [any CodingKey], by encoder: ParameterEncoder) throws {
        if let known = try known(value, at: path, by: encoder) {
            put(known)
            return
        }
        isSet = value is any MarkedSet
        sortsSets = encoder.isForJSON
        isDictionary = value is any MarkedDictionary
        try value.encode(to: NodeEncoder(node: self, codingPath: path, strategy: encoder))
    }

    private func known(
        _ value: some Encodable, at path: [any CodingKey], by encoder: ParameterEncoder
    ) throws -> Parameters? {
        switch value {
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

// A marker protocol without associated types: generic code cannot test for `Set` otherwise.
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
