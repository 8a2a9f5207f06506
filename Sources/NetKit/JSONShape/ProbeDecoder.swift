/// A decoder without input. For each value that a type decodes, it returns a generated value and records the request.
struct ProbeDecoder: Decoder {
    /// The state that all containers of a decoder share.
    final class SharedState {
        var value = ShapeProbe.Requests()
        /// Whether the type has made the request that is manipulated.
        var hasManipulated = false
    }

    let probe: ShapeProbe
    let state = SharedState()
    /// The manipulation of one request, and the member that it applies to. If the member is `nil`, the manipulation
    /// applies to the value itself.
    let manipulation: (member: String?, experiment: ShapeProbe.Experiment)?
    var codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(_ probe: ShapeProbe, manipulation: (member: String?, experiment: ShapeProbe.Experiment)?) {
        self.probe = probe
        self.manipulation = manipulation
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try throwIfManipulated()
        state.value.isObject = true
        return KeyedDecodingContainer(KeyedProbe(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try throwIfManipulated()
        state.value.isArray = true
        return UnkeyedProbe(decoder: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        SingleProbe(decoder: self)
    }

    private func throwIfManipulated() throws {
        if manipulation?.experiment == .otherContainer {
            throw error(.wrong, [Int].self, nil)
        }
    }

    /// Returns the error that a manipulated request throws.
    func error(_ experiment: ShapeProbe.Experiment, _ type: any Any.Type, _ key: (any CodingKey)?) -> DecodingError {
        let context = DecodingError.Context(codingPath: key.map { [$0] } ?? [], debugDescription: "as an experiment")
        if experiment == .missing, let key {
            return .keyNotFound(key, context)
        }
        return .typeMismatch(type, context)
    }
}

/// Records the members that a type decodes.
private struct KeyedProbe<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ProbeDecoder
    var codingPath: [any CodingKey] { [] }
    // Types such as dictionaries decode all keys. The decoder has no input, so there are none.
    var allKeys: [Key] { [] }

    /// Returns true and records an optional member, because a type calls this only for members that may be absent.
    func contains(_ key: Key) -> Bool {
        decoder.state.value.record(key.stringValue, nil, isOptional: true)
        return true
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        // Throws only if the member is missing. A value of the wrong type is not null, so the question succeeds.
        if decoder.manipulation?.experiment == .missing {
            try throwIfManipulated(Never.self, key)
        }
        decoder.state.value.record(key.stringValue, nil, isNullable: true)
        return false
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try decodedValue(of: type, key)
    }

    // Without these two methods, the default implementations of the standard library reject 128-bit integers. The same
    // applies to the other containers below.
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try decodedValue(of: type, key) }

    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try decodedValue(of: type, key) }

    private func decodedValue<Value: Decodable>(of type: Value.Type, _ key: Key) throws -> Value {
        try throwIfManipulated(type, key)
        let (value, shape) = try decoder.probe.value(of: type)
        decoder.state.value.record(key.stringValue, shape)
        return value
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try throwIfManipulated(type, key)
        let shape = try decoder.probe.shape(of: type)
        decoder.state.value.record(key.stringValue, shape, isOptional: true, isNullable: true)
        return nil
    }

    /// Throws if the request for this member is manipulated.
    private func throwIfManipulated(_ type: any Any.Type, _ key: Key) throws {
        guard let (member, experiment) = decoder.manipulation, let member,
            member.utf8.elementsEqual(key.stringValue.utf8),
            !decoder.state.hasManipulated
        else { return }
        // Only the first request fails, so that a type that tries another decoding succeeds with it.
        decoder.state.hasManipulated = true
        throw decoder.error(experiment, type, key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try throwIfManipulated([String: Any].self, key)
        decoder.state.value.record(key.stringValue, .object)
        return try ProbeDecoder(decoder.probe, manipulation: nil).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try throwIfManipulated([Any].self, key)
        decoder.state.value.record(key.stringValue, .array)
        return try ProbeDecoder(decoder.probe, manipulation: nil).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        decoder.state.value.record("super", .any, isOptional: true)
        return ProbeDecoder(decoder.probe, manipulation: nil)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        decoder.state.value.record(key.stringValue, .any, isOptional: true)
        return ProbeDecoder(decoder.probe, manipulation: nil)
    }
}

/// Records the elements that a type decodes. The array has one element.
private struct UnkeyedProbe: UnkeyedDecodingContainer {
    let decoder: ProbeDecoder
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    var count: Int? { nil }
    var isAtEnd: Bool { currentIndex > 0 }

    init(decoder: ProbeDecoder) {
        self.decoder = decoder
    }

    private mutating func record(_ shape: JSONShape) {
        currentIndex += 1
        decoder.state.value.elements.append(shape)
    }

    mutating func decodeNil() -> Bool {
        record(.any)
        return false
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decodedValue(of: type) }

    mutating func decode(_ type: Int128.Type) throws -> Int128 { try decodedValue(of: type) }

    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try decodedValue(of: type) }

    private mutating func decodedValue<Value: Decodable>(of type: Value.Type) throws -> Value {
        let (value, shape) = try decoder.probe.value(of: type)
        record(shape)
        return value
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        record(.object)
        return try ProbeDecoder(decoder.probe, manipulation: nil).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        record(.array)
        return try ProbeDecoder(decoder.probe, manipulation: nil).unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder {
        record(.any)
        return ProbeDecoder(decoder.probe, manipulation: nil)
    }
}

/// Records the single value that a type decodes.
private struct SingleProbe: SingleValueDecodingContainer {
    let decoder: ProbeDecoder
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool {
        decoder.state.value.isNullable = true
        return false
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decodedValue(of: type) }

    func decode(_ type: Int128.Type) throws -> Int128 { try decodedValue(of: type) }

    func decode(_ type: UInt128.Type) throws -> UInt128 { try decodedValue(of: type) }

    private func decodedValue<Value: Decodable>(of type: Value.Type) throws -> Value {
        let state = decoder.state
        if let (member, experiment) = decoder.manipulation, member == nil, experiment == .wrong, !state.hasManipulated {
            state.hasManipulated = true
            throw decoder.error(.wrong, type, nil)
        }
        let isStrange = decoder.manipulation?.experiment == .strange
        if let value = isStrange ? Self.strange(type) ?? Self.plain(type) : Self.plain(type) {
            state.value.scalars.append(decoder.probe.strategies.shape(of: type) ?? .any)
            return value
        }
        let (value, shape) = try decoder.probe.value(of: type)
        state.value.scalars.append(shape)
        return value
    }

    private static func strange<Value>(_ type: Value.Type) -> Value? {
        let values: [Any] = [
            "\u{1}no such case\u{1}", 113, Int8(113), Int16(113), Int32(113), Int64(113), UInt(113), UInt8(113),
            UInt16(113), UInt32(113), UInt64(113), Int128(113), UInt128(113),
        ]
        return values.lazy.compactMap { $0 as? Value }.first
    }

    private static func plain<Value>(_ type: Value.Type) -> Value? {
        let values: [Any] = [
            false, "", 0, Int8(0), Int16(0), Int32(0), Int64(0), UInt(0), UInt8(0), UInt16(0), UInt32(0), UInt64(0),
            Int128(0), UInt128(0), Double(0), Float(0),
        ]
        return values.lazy.compactMap { $0 as? Value }.first
    }
}
