import NetKit

/// A text of a step with placeholders `${name/pointer}` for responses of other steps.
struct RunText: Sendable {
    enum Piece: Sendable {
        case text(String)
        /// The name of a step, and a JSON Pointer (RFC 6901) into its response; empty for the whole response.
        case value(of: String, pointer: String)
    }

    /// The position in the document.
    let place: String
    let pieces: [Piece]

    /// The steps that it refers to.
    var names: [String] {
        pieces.compactMap { piece in
            if case .value(let name, _) = piece { name } else { nil }
        }
    }

    /// Parses a text. `$${` is a literal `${`.
    init(_ text: String, at place: String) throws(RunFault) {
        self.place = place
        var pieces: [Piece] = []
        var plain = ""
        var rest = text[...]
        while let mark = rest.firstRange(of: "${") {
            let front = rest[..<mark.lowerBound]
            rest = rest[mark.upperBound...]
            if front.hasSuffix("$") {
                plain += front.dropLast() + "${"
                continue
            }
            plain += front
            guard let end = rest.firstIndex(of: "}") else {
                throw RunFault(place, wanted: "'}'", found: "the end of the text")
            }
            let reference = rest[..<end]
            rest = rest[rest.index(after: end)...]
            let name = reference.prefix { $0 != "/" }
            if name.isEmpty {
                throw RunFault(place, wanted: "the name of a step", found: "\"\(reference)\"")
            }
            pieces += [.text(plain), .value(of: String(name), pointer: String(reference[name.endIndex...]))]
            plain = ""
        }
        pieces.append(.text(plain + rest))
        self.pieces = pieces.filter { piece in
            if case .text("") = piece { false } else { true }
        }
    }

    /// Returns the text with the responses inserted.
    ///
    /// - Parameter encode: encodes the text of a response.
    func text(
        _ answers: RunAnswers, encode: (String) -> String = { $0 }
    ) throws(NetError) -> String {
        var text = ""
        for piece in pieces {
            switch piece {
            case .text(let plain): text += plain
            case .value(let name, let pointer): text += encode(try answers.value(of: name, pointer).runText)
            }
        }
        return text
    }

    /// As ``text(_:encode:)``, but a text that consists of one placeholder becomes that value, so that a number remains
    /// a number.
    func value(_ answers: RunAnswers) throws(NetError) -> JSONValue {
        if pieces.count == 1, case .value(let name, let pointer) = pieces[0] {
            return try answers.value(of: name, pointer)
        }
        return .string(try text(answers))
    }
}

/// The responses of earlier steps.
struct RunAnswers {
    let bytes: (String) throws(NetError) -> Bytes

    func value(of name: String, _ pointer: String) throws(NetError) -> JSONValue {
        let bytes = try bytes(name)
        if pointer.isEmpty {
            return .string(String(decoding: bytes, as: UTF8.self))
        }
        let tree: JSONValue
        do throws(NetError) {
            tree = try JSONValue(bytes)
        } catch {
            throw NetError(
                error.code, "\"\(name)\" has answered no JSON: \(error.message)", jsonFaults: error.jsonFaults)
        }
        guard let value = tree.value(at: pointer) else {
            throw NetError(.badParameter, "\"\(name)\" has answered nothing at \(pointer)")
        }
        return value
    }
}

extension JSONValue {
    /// Returns the value at a JSON Pointer (RFC 6901). Of a name that occurs twice, the last one is used.
    func value(at pointer: String) -> JSONValue? {
        var value = self
        for word in pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            let name = String(word).replacing("~1", with: "/").replacing("~0", with: "~")
            let isIndex = name == "0" || (name.utf8.allSatisfy { (48...57).contains($0) } && name.first != "0")
            guard let next = value.members != nil ? value[name] : isIndex ? Int(name).flatMap({ value[$0] }) : nil
            else { return nil }
            value = next
        }
        return value
    }

    /// A string unchanged, null as an empty text, other values as JSON.
    var runText: String { isNull ? "" : string ?? description }

    /// Returns the strings in the value as texts.
    func runTexts(at place: String) throws(RunFault) -> [RunText] {
        var texts: [RunText] = []
        switch self {
        case .string(let text): texts.append(try RunText(text, at: place))
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                texts += try element.runTexts(at: "\(place)/\(index)")
            }
        case .object(let members):
            for member in members {
                texts += try member.value.runTexts(at: "\(place)/\(member.name.pointerWord)")
            }
        default: break
        }
        return texts
    }

    /// Returns the value with the responses inserted into its texts.
    func filled(_ answers: RunAnswers) throws(NetError) -> JSONValue {
        switch self {
        case .string(let text):
            guard let text = try? RunText(text, at: "") else { return self }
            return try text.value(answers)
        case .array(let elements):
            var filled: [JSONValue] = []
            for element in elements {
                filled.append(try element.filled(answers))
            }
            return .array(filled)
        case .object(let members):
            var filled: [Member] = []
            for member in members {
                filled.append(Member(name: member.name, value: try member.value.filled(answers)))
            }
            return .object(filled)
        default: return self
        }
    }

    /// The value as parameters of a query.
    var parameters: Parameters {
        switch self {
        case .null: .null
        case .boolean(let value): .boolean(value)
        case .number(let number): .number(number.text)
        case .string(let text): .string(text)
        case .array(let elements): .array(elements.map(\.parameters))
        case .object(let members): .object(members.map { .init(name: $0.name, value: $0.value.parameters) })
        }
    }
}

extension String {
    /// Whether it is a token, as required for methods and field names (RFC 9110, 5.6.2).
    var isToken: Bool { !isEmpty && utf8.allSatisfy(Self.isOfToken) }

    /// Whether it can be a field's value: it contains no line ends.
    var isLine: Bool { utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 9 } }

    /// The text as a reference token of a JSON Pointer (RFC 6901, 3).
    var pointerWord: String { replacing("~", with: "~0").replacing("/", with: "~1") }

    private static func isOfToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
