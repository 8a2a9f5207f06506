import NetKit

/// A text of a step with placeholders `${name/pointer}`, which stand for values from the responses of other steps.
struct StepTemplate: Sendable {
    enum Piece: Sendable {
        case text(String)
        /// A placeholder: the name of a step, and a JSON Pointer (RFC 6901) into its response. The pointer is empty for
        /// the whole response.
        case value(of: String, pointer: String)
    }

    /// The position of the text in the document.
    let location: String
    let pieces: [Piece]

    /// The names of the steps that the placeholders refer to.
    var names: [String] {
        pieces.compactMap { piece in
            if case .value(let name, _) = piece { name } else { nil }
        }
    }

    /// Parses a text. `$${` stands for a literal `${`.
    init(_ text: String, at location: String) throws(RunFault) {
        self.location = location
        var pieces: [Piece] = []
        var literal = ""
        var remaining = text[...]
        while let mark = remaining.firstRange(of: "${") {
            let front = remaining[..<mark.lowerBound]
            remaining = remaining[mark.upperBound...]
            if front.hasSuffix("$") {
                literal += front.dropLast() + "${"
                continue
            }
            literal += front
            guard let end = remaining.firstIndex(of: "}") else {
                throw RunFault(location, wanted: "'}'", found: "the end of the text")
            }
            let reference = remaining[..<end]
            remaining = remaining[remaining.index(after: end)...]
            let name = reference.prefix { $0 != "/" }
            if name.isEmpty {
                throw RunFault(location, wanted: "the name of a step", found: "\"\(reference)\"")
            }
            pieces += [.text(literal), .value(of: String(name), pointer: String(reference[name.endIndex...]))]
            literal = ""
        }
        pieces.append(.text(literal + remaining))
        self.pieces = pieces.filter { piece in
            if case .text("") = piece { false } else { true }
        }
    }

    /// Returns the text with the values of the placeholders inserted.
    ///
    /// - Parameter encode: encodes each inserted value.
    func text(
        _ responses: StepResponses, encode: (String) -> String = { $0 }
    ) throws(NetError) -> String {
        var text = ""
        for piece in pieces {
            switch piece {
            case .text(let literal): text += literal
            case .value(let name, let pointer): text += encode(try responses.value(of: name, pointer).insertedText)
            }
        }
        return text
    }

    /// Returns the text with the values of the placeholders inserted, as a JSON string. If the text consists of a
    /// single placeholder, returns the value itself, so that a number remains a number.
    func value(_ responses: StepResponses) throws(NetError) -> JSONValue {
        if pieces.count == 1, case .value(let name, let pointer) = pieces[0] {
            return try responses.value(of: name, pointer)
        }
        return .string(try text(responses))
    }
}

/// The responses of earlier steps.
struct StepResponses {
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
                error.code, "\"\(name)\" returned a body that is not JSON: \(error.message)",
                jsonFaults: error.jsonFaults)
        }
        guard let value = tree.value(at: pointer) else {
            throw NetError(.badParameter, "\"\(name)\" returned no value at \(pointer)")
        }
        return value
    }
}

extension JSONValue {
    /// Returns the value at a JSON Pointer (RFC 6901), or `nil` if there is none. If a name occurs twice in an object,
    /// the last member is used.
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

    /// The text that replaces a placeholder: a string itself, an empty text for null, or the JSON text of other values.
    var insertedText: String { isNull ? "" : string ?? description }

    /// Returns the templates of all strings in the value.
    func templates(at location: String) throws(RunFault) -> [StepTemplate] {
        var texts: [StepTemplate] = []
        switch self {
        case .string(let text): texts.append(try StepTemplate(text, at: location))
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                texts += try element.templates(at: "\(location)/\(index)")
            }
        case .object(let members):
            for member in members {
                texts += try member.value.templates(at: "\(location)/\(member.name.pointerWord)")
            }
        default: break
        }
        return texts
    }

    /// Returns the value with the placeholders in its strings replaced.
    func filled(_ responses: StepResponses) throws(NetError) -> JSONValue {
        switch self {
        case .string(let text):
            guard let text = try? StepTemplate(text, at: "") else { return self }
            return try text.value(responses)
        case .array(let elements):
            var filled: [JSONValue] = []
            for element in elements {
                filled.append(try element.filled(responses))
            }
            return .array(filled)
        case .object(let members):
            var filled: [Member] = []
            for member in members {
                filled.append(Member(name: member.name, value: try member.value.filled(responses)))
            }
            return .object(filled)
        default: return self
        }
    }
}

extension String {
    /// Whether the text is a token, as methods and field names must be (RFC 9110, 5.6.2).
    var isToken: Bool { !isEmpty && utf8.allSatisfy(Self.isOfToken) }

    /// Whether the text can be the value of a field, which contains no line ends or other control characters.
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
