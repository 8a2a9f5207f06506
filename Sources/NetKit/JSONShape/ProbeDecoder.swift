/// A decoder without input: it returns a generated value for each request of the type, and records the request.
struct ProbeDecoder: Decoder {
    /// The state that the containers of a decoder share.
    final class Kept {
        var value = ShapeProbe.Questions()
        /// Whether the manipulated request has occurred.
        var isTamperedWith = false
    }

    let probe: ShapeProbe
    let questions = Kept()
    /// The member whose value is manipulated, and how; without a name it is the value itself.
    let tampering: (member: String?, answer: ShapeProbe.Experiment)?
    var codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(_ probe: ShapeProbe, tampering: (member: String?, answer: ShapeProbe.Experiment)?) {
        self.probe = probe
        self.tampering = tampering
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try experiment()
        questions.value.isObject = true
        return KeyedDecodingContainer(KeyedProbe(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try experiment()
        questions.value.isArray = true
        return UnkeyedProbe(decoder: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        SingleProbe(decoder: self)
    }

    private func experiment() throws {
        if tampering?.answer == .otherContainer {
            throw error(.wrong, [Int].self, nil)
        }
    }

    /// Returns the error that a manipulated request throws.
    func error(_ answer: ShapeProbe.Experiment, _ type: any Any.Type, _ key: (any CodingKey)?) -> DecodingError {
        let context = DecodingError.Context(codingPath: key.map { [$0] } ?? [], debugDescription: "as an experiment")
        if answer == .missing, let key {
            return .keyNotFound(key, context)
        }
        return .typeMismatch(type, context)
    }
}

/// Records requests for members.
private struct KeyedProbe<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ProbeDecoder
    var codingPath: [any CodingKey] { [] }
    // A dictionary decodes all keys; there are none.
    var allKeys: [Key] { [] }

    /// A type calls this only for a member that is optional.
    func contains(_ key: Key) -> Bool {
        decoder.questions.value.ask(key.stringValue, nil, isOptional: true)
        return true
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        // A value of the wrong type is not null, so this succeeds for it.
        if decoder.tampering?.answer == .missing {
            try experiment(Never.self, key)
        }
        decoder.questions.value.ask(key.stringValue, nil, isNullable: true)
        return false
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try answer(type, key)
    }

    // Without these two methods the standard library rejects 128-bit integers; likewise below.
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try answer(type, key) }

    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try answer(type, key) }

    private func answer<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
        try experiment(type, key)
        let (value, shape) = try decoder.probe.value(of: type)
        decoder.questions.value.ask(key.stringValue, shape)
        return value
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try experiment(type, key)
        let shape = try decoder.probe.shape(of: type)
        decoder.questions.value.ask(key.stringValue, shape, isOptional: true, isNullable: true)
        return nil
    }

    /// Throws if this member's value is manipulated.
    private func experiment(_ type: any Any.Type, _ key: Key) throws {
        guard let (member, answer) = decoder.tampering, let member, member.utf8.elementsEqual(key.stringValue.utf8),
            !decoder.questions.isTamperedWith
        else { return }
        // Only the first request fails: a type that then tries another decoding must succeed.
        decoder.questions.isTamperedWith = true
        throw decoder.error(answer, type, key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try experiment([String: Any].self, key)
        decoder.questions.value.ask(key.stringValue, .object)
        return try ProbeDecoder(decoder.probe, tampering: nil).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try experiment([Any].self, key)
        decoder.questions.value.ask(key.stringValue, .array)
        return try ProbeDecoder(decoder.probe, tampering: nil).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        decoder.questions.value.ask("super", .any, isOptional: true)
        return ProbeDecoder(decoder.probe, tampering: nil)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        decoder.questions.value.ask(key.stringValue, .any, isOptional: true)
        return ProbeDecoder(decoder.probe, tampering: nil)
    }
}

/// Records requests for elements: the array has one.
private struct UnkeyedProbe: UnkeyedDecodingContainer {
    let decoder: ProbeDecoder
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    var count: Int? { nil }
    var isAtEnd: Bool { currentIndex > 0 }

    init(decoder: ProbeDecoder) {
        self.decoder = decoder
    }

    private mutating func take(_ shape: JSONShape) {
        currentIndex += 1
        decoder.questions.value.elements.append(shape)
    }

    mutating func decodeNil() -> Bool {
        take(.any)
        return false
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try answer(type) }

    mutating func decode(_ type: Int128.Type) throws -> Int128 { try answer(type) }

    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try answer(type) }

    private mutating func answer<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let (value, shape) = try decoder.probe.value(of: type)
        take(shape)
        return value
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        take(.object)
        return try ProbeDecoder(decoder.probe, tampering: nil).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        take(.array)
        return try ProbeDecoder(decoder.probe, tampering: nil).unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder {
        take(.any)
        return ProbeDecoder(decoder.probe, tampering: nil)
    }
}

/// Records requests for the value itself.
private struct SingleProbe: SingleValueDecodingContainer {
    let decoder: ProbeDecoder
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool {
        decoder.questions.value.isNullable = true
        return false
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try answer(type) }

    func decode(_ type: Int128.Type) throws -> Int128 { try answer(type) }

    func decode(_ type: UInt128.Type) throws -> UInt128 { try answer(type) }

    private func answer<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let kept = decoder.questions
        if let (member, answer) = decoder.tampering, member == nil, answer == .wrong, !kept.isTamperedWith {
            kept.isTamperedWith = true
            throw decoder.error(.wrong, type, nil)
        }
        let isStrange = decoder.tampering?.answer == .strange
        if let value = isStrange ? Self.strange(type) ?? Self.plain(type) : Self.plain(type) {
            kept.value.scalars.append(decoder.probe.strategies.shape(of: type) ?? .any)
            return value
        }
        let (value, shape) = try decoder.probe.value(of: type)
        kept.value.scalars.append(shape)
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
