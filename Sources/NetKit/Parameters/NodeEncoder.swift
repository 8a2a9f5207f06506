/// An `Encoder` that writes into a ``ParameterNode``.
struct NodeEncoder: Encoder {
    let node: ParameterNode
    let codingPath: [any CodingKey]
    let strategy: ParameterEncoder

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.beginFields()
        return KeyedEncodingContainer(FieldContainer(node: node, codingPath: codingPath, strategy: strategy))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.beginValues()
        return ElementContainer(node: node, codingPath: codingPath, strategy: strategy)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        ValueContainer(node: node, codingPath: codingPath, strategy: strategy)
    }
}

/// Encodes the members of an object.
private struct FieldContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: ParameterNode
    let codingPath: [any CodingKey]
    let strategy: ParameterEncoder

    private func field(_ key: some CodingKey) -> ParameterNode {
        node.field(node.isDictionary ? key.stringValue : strategy.name(of: key.stringValue))
    }

    private func encoder(_ key: some CodingKey) -> NodeEncoder {
        NodeEncoder(node: field(key), codingPath: codingPath + [key], strategy: strategy)
    }

    func encodeNil(forKey key: Key) {
        field(key).set(.null)
    }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        try field(key).encode(value, at: codingPath + [key], by: strategy)
    }

    // The standard library's default implementations of these two methods reject 128-bit integers. The same applies to
    // the containers below.
    func encode(_ value: Int128, forKey key: Key) {
        field(key).set(Parameters(integer: value))
    }

    func encode(_ value: UInt128, forKey key: Key) {
        field(key).set(Parameters(integer: value))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        encoder(NameKey("super"))
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        encoder(key)
    }
}

/// Encodes the elements of an array.
private struct ElementContainer: UnkeyedEncodingContainer {
    let node: ParameterNode
    let codingPath: [any CodingKey]
    let strategy: ParameterEncoder

    var count: Int { node.count }

    private var nextPath: [any CodingKey] { codingPath + [NameKey(intValue: count)] }

    private func next() -> NodeEncoder {
        let path = nextPath
        return NodeEncoder(node: node.element(), codingPath: path, strategy: strategy)
    }

    func encodeNil() {
        node.element().set(.null)
    }

    func encode(_ value: some Encodable) throws {
        let path = nextPath
        try node.element().encode(value, at: path, by: strategy)
    }

    func encode(_ value: Int128) {
        node.element().set(Parameters(integer: value))
    }

    func encode(_ value: UInt128) {
        node.element().set(Parameters(integer: value))
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        next().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        next().unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        next()
    }
}

/// Encodes a single value.
private struct ValueContainer: SingleValueEncodingContainer {
    let node: ParameterNode
    let codingPath: [any CodingKey]
    let strategy: ParameterEncoder

    func encodeNil() {
        node.set(.null)
    }

    func encode(_ value: Bool) {
        node.set(strategy.parameters(of: value))
    }

    func encode(_ value: String) {
        node.set(.string(value))
    }

    func encode(_ value: Double) throws {
        try check(value)
        node.set(.double(value))
    }

    func encode(_ value: Float) throws {
        try check(value)
        node.set(Parameters(shortest: value))
    }

    private func check(_ value: some FloatingPoint) throws {
        if strategy.isForJSON, !value.isFinite {
            throw EncodingError.invalidValue(
                value, .init(codingPath: codingPath, debugDescription: "the number is not finite"))
        }
    }

    func encode(_ value: Int) {
        node.set(Parameters(integer: value))
    }

    func encode(_ value: Int8) {
        node.set(Parameters(integer: value))
    }

    func encode(_ value: Int16) {
        node.set(Parameters(integer: value))
    }

    func encode(_ value: Int32) {
        node.set(Parameters(integer: value))
    }

    func encode(_ value: Int64) {
        node.set(Parameters(integer: value))
    }

    func encode(_ value: UInt) {
        node.set(Parameters(integer: value))
    }

    func encode(_ value: UInt8) {
        node.set(Parameters(integer: value))
    }

    func encode(_ value: UInt16) {
        node.set(Parameters(integer: value))
    }

    func encode(_ value: UInt32) {
        node.set(Parameters(integer: value))
    }

    func encode(_ value: UInt64) {
        node.set(Parameters(integer: value))
    }

    func encode(_ value: Int128) {
        node.set(Parameters(integer: value))
    }

    func encode(_ value: UInt128) {
        node.set(Parameters(integer: value))
    }

    func encode(_ value: some Encodable) throws {
        try node.encode(value, at: codingPath, by: strategy)
    }
}
