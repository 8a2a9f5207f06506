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
        return ValueContainer(node: node, codingPath: codingPath, strategy: strategy)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        OneContainer(node: node, codingPath: codingPath, strategy: strategy)
    }
}

/// Named values.
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
        field(key).put(.null)
    }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        try field(key).take(value, at: codingPath + [key], by: strategy)
    }

    // Without these two methods the standard library rejects 128-bit integers; likewise below.
    func encode(_ value: Int128, forKey key: Key) {
        field(key).put(Parameters(value))
    }

    func encode(_ value: UInt128, forKey key: Key) {
        field(key).put(Parameters(value))
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

/// Values in order.
private struct ValueContainer: UnkeyedEncodingContainer {
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
        node.element().put(.null)
    }

    func encode(_ value: some Encodable) throws {
        let path = nextPath
        try node.element().take(value, at: path, by: strategy)
    }

    func encode(_ value: Int128) {
        node.element().put(Parameters(value))
    }

    func encode(_ value: UInt128) {
        node.element().put(Parameters(value))
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

/// One value.
private struct OneContainer: SingleValueEncodingContainer {
    let node: ParameterNode
    let codingPath: [any CodingKey]
    let strategy: ParameterEncoder

    func encodeNil() {
        node.put(.null)
    }

    func encode(_ value: Bool) {
        node.put(strategy.parameters(of: value))
    }

    func encode(_ value: String) {
        node.put(.string(value))
    }

    func encode(_ value: Double) throws {
        try check(value)
        node.put(.double(value))
    }

    func encode(_ value: Float) throws {
        try check(value)
        node.put(Parameters(value))
    }

    private func check(_ value: some FloatingPoint) throws {
        if strategy.isForJSON, !value.isFinite {
            throw EncodingError.invalidValue(
                value, .init(codingPath: codingPath, debugDescription: "the number is not finite"))
        }
    }

    func encode(_ value: Int) {
        node.put(Parameters(value))
    }

    func encode(_ value: Int8) {
        node.put(Parameters(value))
    }

    func encode(_ value: Int16) {
        node.put(Parameters(value))
    }

    func encode(_ value: Int32) {
        node.put(Parameters(value))
    }

    func encode(_ value: Int64) {
        node.put(Parameters(value))
    }

    func encode(_ value: UInt) {
        node.put(Parameters(value))
    }

    func encode(_ value: UInt8) {
        node.put(Parameters(value))
    }

    func encode(_ value: UInt16) {
        node.put(Parameters(value))
    }

    func encode(_ value: UInt32) {
        node.put(Parameters(value))
    }

    func encode(_ value: UInt64) {
        node.put(Parameters(value))
    }

    func encode(_ value: Int128) {
        node.put(Parameters(value))
    }

    func encode(_ value: UInt128) {
        node.put(Parameters(value))
    }

    func encode(_ value: some Encodable) throws {
        try node.take(value, at: codingPath, by: strategy)
    }
}
