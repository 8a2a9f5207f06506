#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// How JSON is written and read: the form of dates, the spelling of names, and the layout.
///
///     configuration.json.keys = .snakeCase
///     configuration.json.dates = .secondsSince1970
///
/// Set it for an agent (``Agent/Configuration/json``), a service or a request; each overrides the one before. It
/// applies to the bodies of ``Body/json(_:style:)-(Encodable,_)``, to parameters that are sent as JSON, and to values
/// that are decoded by ``Decoding/automatic`` or ``Decoding/json``. Members are written in the order given, and equal
/// values give the same bytes in every process.
public struct JSONCoding: Sendable {
    /// The form of dates. By default they are ISO 8601 text. It is written as `2026-11-21T18:00:00Z`, and read with and
    /// without fractional seconds.
    ///
    /// `.custom` applies to writing. To read such dates, set ``decoder``.
    public var dates = ParameterEncoder.DateStrategy.iso8601
    /// The spelling of the names that types declare. By default it is the same in JSON. The names of dictionaries and
    /// ``Parameters`` are never changed.
    ///
    /// `.custom` applies to writing. To read such names, set ``decoder``.
    public var keys = ParameterEncoder.KeyStrategy.asDeclared
    /// The layout of bodies that set none.
    public var style = JSONStyle()
    /// The rules for accepted JSON.
    public var rules = JSONRules()
    /// Whether members and elements that are null are removed at any depth before the decoding.
    public var removesNulls = false
    /// The decoder for responses. If it is set, ``dates`` and ``keys`` do not apply to reading.
    ///
    /// Any number of threads can share it: `JSONDecoder` guards its settings with a lock, and decoding does not change
    /// it. Each response is decoded with a copy of its settings, so set them before the first request. A subclass of
    /// `JSONDecoder` cannot be copied and is used itself. A ``JSONValue`` in its values then has no exact numbers.
    public var decoder: JSONDecoder?

    /// Creates the default settings.
    public init() {}

    /// Validates the body as JSON and decodes it. If `Value` is an Optional, an empty body is `nil`.
    func value<Value: Decodable>(in response: Response<Bytes>) throws -> Value {
        if let absent = absence(of: Value.self, in: response) {
            return absent
        }
        // A tree is parsed without a decoder.
        if Value.self == JSONValue.self || Value.self == JSONValue?.self, let tree = try tree(in: response) as? Value {
            return tree
        }
        let text = try text(of: response.bytes)
        let decoder = decoderForOneText
        // JSONValue reads the exact digits of its numbers and the order of its members from the text.
        if let key = DecodedText.key, decoder !== self.decoder {
            decoder.userInfo[key] = DecodedText(text, rules: rules)
        }
        return try decoder.decode(Value.self, from: text.borrowedData)
    }

    /// A decoder that only the caller has, because the text of the response is added to it. A subclass of the
    /// application is returned itself.
    private var decoderForOneText: JSONDecoder {
        if let decoder {
            return decoder.copy ?? decoder
        }
        let decoder = JSONDecoder()
        switch dates {
        case .iso8601, .custom: decoder.dateDecodingStrategy = .custom { try Date(internetDateFrom: $0) }
        case .secondsSince1970: decoder.dateDecodingStrategy = .secondsSince1970
        case .millisecondsSince1970: decoder.dateDecodingStrategy = .millisecondsSince1970
        case .deferred: break
        }
        if case .snakeCase = keys {
            decoder.keyDecodingStrategy = .convertFromSnakeCase
        }
        return decoder
    }

    /// Validates the body and returns the text for the decoder.
    ///
    /// Two rules of NetKit differ from those of `JSONDecoder`. If they matter, the text is written again from its tree:
    /// - A lone surrogate is replaced by U+FFFD. `JSONDecoder` rejects it.
    /// - If an object has two members with the same name, the last one counts. `JSONDecoder` uses the first.
    private func text(of bytes: Bytes) throws(NetError) -> Bytes {
        if removesNulls {
            return try JSONValue(bytes, rules: rules).removingNulls.bytes
        }
        try bytes.proveJSON(rules)
        var strictest = rules
        strictest.allowsLoneSurrogates = false
        strictest.refusesDuplicateNames = true
        if strictest == rules || bytes.isJSON(strictest) {
            return bytes
        }
        return try JSONValue(bytes, rules: rules).withLastMembers.bytes
    }

    private func tree(in response: Response<Bytes>) throws -> JSONValue {
        let tree = try JSONValue(response.bytes, rules: rules)
        return removesNulls ? tree.removingNulls : tree
    }

    private func absence<Value>(of type: Value.Type, in response: Response<Bytes>) -> Value? {
        guard let type = Value.self as? any OptionalValue.Type, response.bytes.isBlank else { return nil }
        return type.absent as? Value
    }
}

extension JSONCoding {
    /// Whether dates and names are written as by default.
    var writesByDefault: Bool {
        guard case .iso8601 = dates, case .asDeclared = keys else { return false }
        return true
    }

    /// Whether all settings have their defaults.
    var isDefault: Bool {
        writesByDefault && style == JSONStyle() && rules == JSONRules() && !removesNulls && decoder == nil
    }

    /// Returns the values with dates and declared names in the form of these settings.
    func spelled(_ values: Parameters) throws(NetError) -> Parameters {
        if writesByDefault {
            return values
        }
        let encoder = ParameterEncoder(keys: keys, dates: dates)
        do {
            return try encoder.spelled(values, at: [])
        } catch {
            throw NetError(encodingJSON: error)
        }
    }
}

extension JSONDecoder {
    /// A decoder with the same settings; `nil` for a subclass.
    fileprivate var copy: JSONDecoder? {
        guard type(of: self) == JSONDecoder.self else { return nil }
        let copy = JSONDecoder()
        copy.dateDecodingStrategy = dateDecodingStrategy
        copy.dataDecodingStrategy = dataDecodingStrategy
        copy.nonConformingFloatDecodingStrategy = nonConformingFloatDecodingStrategy
        copy.keyDecodingStrategy = keyDecodingStrategy
        copy.userInfo = userInfo
        copy.allowsJSON5 = allowsJSON5
        copy.assumesTopLevelDictionary = assumesTopLevelDictionary
        return copy
    }
}

extension ParameterEncoder {
    fileprivate func spelled(_ value: Parameters, at path: [any CodingKey]) throws -> Parameters {
        switch value {
        case .date(let date):
            return try parameters(of: date, at: path) ?? .double(date.timeIntervalSinceReferenceDate)
        case .object(let fields):
            return .object(
                try fields.map { field in
                    var field = field
                    field.value = try spelled(field.value, at: path + [NameKey(field.name)])
                    if case .declared = field.spelling {
                        field.name = name(of: field.name)
                    }
                    return field
                })
        case .array(let values):
            return .array(
                try values.enumerated().map { try spelled($0.element, at: path + [NameKey(intValue: $0.offset)]) })
        case .set(let values): return .set(Set(try values.map { try spelled($0, at: path) }))
        default: return value
        }
    }
}

/// Settings behind one reference, which requests and responses can share.
final class JSONCodingStorage: Sendable {
    let value: JSONCoding

    init(_ value: JSONCoding) {
        self.value = value
    }

    static let standard = JSONCodingStorage(JSONCoding())
}

extension Bytes {
    fileprivate func isJSON(_ rules: JSONRules) -> Bool { (try? proveJSON(rules)) != nil }
}

extension Decoding where Value: Decodable {
    /// A JSON body, decoded with the ``JSONCoding`` of the request.
    ///
    /// The body is first validated as JSON (RFC 8259) in UTF-8, regardless of the charset in the Content-Type. If an
    /// object has several members with the same name, the last one counts, as in a ``JSONValue``. To make that an
    /// error, set ``JSONRules/refusesDuplicateNames``.
    ///
    /// Malformed JSON throws ``NetError/Code/decoding``, and ``NetError/jsonFaults`` contains the position. An empty
    /// or blank body throws the same error, unless `Value` is an Optional. Then the value is `nil`. For a ``JSONValue``,
    /// the decoder of the settings is not used.
    public static var json: Decoding { Decoding(types: MediaTypes.json) { try $0.jsonCoding.value.value(in: $0) } }

    /// A JSON body, decoded with these settings.
    public static func json(_ coding: JSONCoding) -> Decoding {
        Decoding(types: MediaTypes.json) { try coding.value(in: $0) }
    }

    /// A JSON body, decoded by this decoder; see ``JSONCoding/decoder``.
    public static func json(_ decoder: JSONDecoder) -> Decoding {
        var coding = JSONCoding()
        coding.decoder = decoder
        return json(coding)
    }
}

/// A type that has a value for an empty body: an Optional.
protocol OptionalValue {
    static var absent: Self { get }
}

extension Optional: OptionalValue {
    static var absent: Wrapped? { nil }
}

/// The layout of JSON text. The default is the same as in AFNetworking's JSON requests: compact, members in the given
/// order, and "/" escaped as "\/".
/// The given order is the order of a ``Parameters`` literal, or the order in which a value encodes its members. The
/// members of a dictionary are always sorted, because a dictionary has no order. Equal values give the same text in
/// every process.
public struct JSONStyle: Sendable, Hashable {
    package var isSorted: Bool
    package var isPretty: Bool
    package var keepsSlashes: Bool

    /// Creates a style.
    ///
    /// - Parameters:
    ///   - isSorted: whether the members of each object are sorted by name.
    ///   - isPretty: whether each value is on its own line, indented by two spaces for each level of nesting.
    ///   - keepsSlashes: whether "/" is written without a backslash.
    public init(isSorted: Bool = false, isPretty: Bool = false, keepsSlashes: Bool = false) {
        self.isSorted = isSorted
        self.isPretty = isPretty
        self.keepsSlashes = keepsSlashes
    }

    /// Compact with sorted members. The text then does not depend on the original order of the members.
    public static var sorted: JSONStyle { JSONStyle(isSorted: true) }
}

/// A position in a text at which it is not the expected JSON.
public struct JSONFault: Sendable, Hashable, CustomStringConvertible {
    /// The JSON Pointer (RFC 6901) of a value that does not match a shape, truncated to 4 KiB. It is empty if the whole
    /// text is that value. `nil` if the text is not well-formed at the position.
    public var pointer: String?
    /// The expected element, such as "string|number" or "',' or '}'".
    public var wanted: String
    /// The element in the text, such as "null" or "the end of the text". For a missing member it is "nothing".
    public var found: String
    /// The byte offset, from 0. For a missing member, the offset of the closing bracket of its object.
    public var offset: Int
    /// The line, from 1.
    public var line: Int
    /// The column in characters, from 1.
    public var column: Int
    /// The location of the keyword that refuses the value, if a schema found the fault: the URI of its document unless
    /// that is the main one, `#`, and a JSON Pointer.
    public var keyword: String?

    /// Creates a fault, for a transport or a test.
    package init(pointer: String?, wanted: String, found: String, offset: Int, line: Int = 1, column: Int = 1) {
        self.pointer = pointer
        self.wanted = wanted
        self.found = found
        self.offset = offset
        self.line = line
        self.column = column
    }

    /// The fault in one line, with its line and column.
    public var description: String {
        let position = "line \(line), column \(column)"
        if found == "an unknown member", let pointer { return "\(position): unknown member at \(pointer)" }
        guard let pointer else { return "\(position): expected \(wanted), found \(found)" }
        let rule = keyword.map { " (\($0))" } ?? ""
        return "\(position): expected \(wanted), found \(found), at \(pointer.isEmpty ? "the root" : pointer)\(rule)"
    }
}

/// The rules for accepted JSON. A text must be JSON by RFC 8259 in UTF-8, and meet these options.
public struct JSONRules: Sendable, Hashable {
    /// The largest nesting depth of arrays and objects (512). It can be up to 1,000,000, but a ``JSONValue`` is never
    /// deeper than 512.
    public var maxDepth = 512
    /// The largest size of the text in bytes. If `nil`, there is no limit.
    public var maxBytes: Int?
    /// The largest size of one number in bytes. If `nil`, there is no limit.
    public var maxNumberBytes: Int?
    /// Whether a lone surrogate such as `\ud800` is accepted. It is replaced by U+FFFD.
    public var allowsLoneSurrogates = false
    /// Whether a duplicate name in an object is an error.
    public var refusesDuplicateNames = false

    /// Creates the default rules.
    public init() {}
}
