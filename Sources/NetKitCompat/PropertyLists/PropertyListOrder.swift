/// Sorts the members of a property list's dictionaries by name. Foundation's encoder writes them in a different order
/// in each process, but equal requests need equal bytes for their cache key. Pure.
enum PropertyListOrder {
    /// Returns the bytes of a `PropertyListEncoder` with sorted dictionaries. If the bytes cannot be parsed, they are
    /// returned unchanged.
    static func sorted(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.starts(with: "bplist".utf8) {
            var objects = BinaryListObjects()
            guard let list = BinaryListReader(bytes), let root = list.value(at: list.rootIndex) else { return bytes }
            _ = objects.add(root)
            return objects.bytes
        }
        var text = XMLListText(bytes)
        return text.sorted() ?? bytes
    }
}

/// An XML property list. Sorting only moves members; each element keeps its text and the white space before it.
private struct XMLListText {
    private let text: [UInt8]
    private var position = 0

    init(_ text: [UInt8]) {
        self.text = text
    }

    mutating func sorted() -> [UInt8]? {
        let opening = Array("<plist".utf8)
        guard let start = text.indices.first(where: { text[$0...].starts(with: opening) }),
            let end = text[start...].firstIndex(of: UInt8(ascii: ">"))
        else { return nil }
        position = end + 1
        let head = Array(text[..<position]) + takeWhiteSpace()
        guard let value = value() else { return nil }
        return head + value + text[position...]
    }

    private mutating func value() -> [UInt8]? {
        guard let (tag, name, isEmpty) = openingTag() else { return nil }
        if isEmpty {
            return tag
        }
        let closing = Array("</".utf8) + name + [UInt8(ascii: ">")]
        if name == Array("dict".utf8) || name == Array("array".utf8) {
            return members(areNamed: name == Array("dict".utf8), upTo: closing).map { tag + $0 }
        }
        return takeContent(upTo: closing).map { tag + $0 }
    }

    private mutating func members(areNamed: Bool, upTo closing: [UInt8]) -> [UInt8]? {
        var members: [(name: [UInt8], text: [UInt8])] = []
        while true {
            let leadingSpace = takeWhiteSpace()
            if text[position...].starts(with: closing) {
                position += closing.count
                let ordered = areNamed ? members.sorted { $0.name.lexicographicallyPrecedes($1.name) } : members
                return Array(ordered.map(\.text).joined()) + leadingSpace + closing
            }
            var name: [UInt8] = []
            if areNamed {
                guard let key = value() else { return nil }
                name = key + takeWhiteSpace()
            }
            guard let value = value() else { return nil }
            members.append((name, leadingSpace + name + value))
        }
    }

    private mutating func openingTag() -> (tag: [UInt8], name: [UInt8], isEmpty: Bool)? {
        guard position < text.count, text[position] == UInt8(ascii: "<"),
            let end = text[position...].firstIndex(of: UInt8(ascii: ">"))
        else { return nil }
        let tag = Array(text[position...end])
        position = end + 1
        let isEmpty = tag.dropLast().last == UInt8(ascii: "/")
        return (tag, Array(tag.dropFirst().dropLast(isEmpty ? 2 : 1)), isEmpty)
    }

    private mutating func takeContent(upTo closing: [UInt8]) -> [UInt8]? {
        guard let start = text[position...].indices.first(where: { text[$0...].starts(with: closing) }) else {
            return nil
        }
        defer { position = start + closing.count }
        return Array(text[position..<start + closing.count])
    }

    private mutating func takeWhiteSpace() -> [UInt8] {
        let whiteSpace = text[position...].prefix { $0 == 0x20 || (9...13).contains($0) }
        position = whiteSpace.endIndex
        return Array(whiteSpace)
    }
}

/// A value of a binary list: its original bytes, or a container.
private indirect enum BinaryListValue {
    case scalar([UInt8])
    case array([BinaryListValue])
    case dictionary([(name: [UInt8], value: BinaryListValue)])
}

private struct BinaryListReader {
    private let bytes: [UInt8]
    private let offsetSize: Int
    private let referenceSize: Int
    private let offsetTable: Int
    let rootIndex: Int

    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 40 else { return nil }
        let trailer = bytes.count - 32
        self.bytes = bytes
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        rootIndex = Self.number(bytes[(trailer + 16)..<(trailer + 24)])
        offsetTable = Self.number(bytes[(trailer + 24)..<(trailer + 32)])
    }

    func value(at index: Int) -> BinaryListValue? {
        guard let start = number(at: offsetTable + index * offsetSize, offsetSize), start < bytes.count else {
            return nil
        }
        let kind = bytes[start] >> 4
        guard kind == 0xA || kind == 0xD else { return scalar(at: start).map { .scalar($0) } }
        guard let (count, first) = count(at: start) else { return nil }
        func element(_ objectIndex: Int) -> BinaryListValue? {
            number(at: first + objectIndex * referenceSize, referenceSize).flatMap(value)
        }
        if kind == 0xA {
            let values = (0..<count).compactMap(element)
            return values.count == count ? .array(values) : nil
        }
        let members = (0..<count).compactMap { objectIndex -> (name: [UInt8], value: BinaryListValue)? in
            guard case .scalar(let name)? = element(objectIndex), let value = element(objectIndex + count) else {
                return nil
            }
            return (name, value)
        }
        guard members.count == count else { return nil }
        let ordered = members.map { ($0, text(of: $0.name)) }.sorted { $0.1.lexicographicallyPrecedes($1.1) }
        return .dictionary(ordered.map(\.0))
    }

    /// Returns the text of a name in UTF-8; the list stores it as ASCII or UTF-16.
    private func text(of name: [UInt8]) -> [UInt8] {
        let isLong = name[0] & 0xF == 0xF
        let text = name.dropFirst(isLong ? 2 + (1 << Int(name[1] & 0xF)) : 1)
        guard name[0] >> 4 == 0x6 else { return Array(text) }
        let units = stride(from: text.startIndex, to: text.endIndex - 1, by: 2).map {
            UInt16(text[$0]) << 8 | UInt16(text[$0 + 1])
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    private func scalar(at start: Int) -> [UInt8]? {
        let low = Int(bytes[start] & 0xF)
        let end: Int
        switch bytes[start] >> 4 {
        case 0x0: end = start + 1
        case 0x1, 0x2, 0x3: end = start + 1 + (1 << low)
        case 0x4, 0x5: end = count(at: start).map { $0.first + $0.count } ?? .max
        case 0x6: end = count(at: start).map { $0.first + $0.count * 2 } ?? .max
        default: return nil
        }
        return end <= bytes.count ? Array(bytes[start..<end]) : nil
    }

    /// Returns the number of elements and the position of the first.
    private func count(at start: Int) -> (count: Int, first: Int)? {
        let low = Int(bytes[start] & 0xF)
        guard low == 0xF else { return (low, start + 1) }
        guard start + 1 < bytes.count else { return nil }
        let size = 1 << Int(bytes[start + 1] & 0xF)
        return number(at: start + 2, size).map { ($0, start + 2 + size) }
    }

    private func number(at start: Int, _ size: Int) -> Int? {
        start + size <= bytes.count ? Self.number(bytes[start..<start + size]) : nil
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
        Int(truncatingIfNeeded: bytes.reduce(into: UInt64(0)) { $0 = $0 << 8 | UInt64($1) } & 0x7FFF_FFFF_FFFF)
    }
}

/// Collects the objects of a binary list and writes them. Equal scalars are written once.
private struct BinaryListObjects {
    private enum Object {
        case scalar([UInt8])
        case container(kind: UInt8, count: Int, references: [Int])
    }

    private var objects: [Object] = []
    private var scalars: [[UInt8]: Int] = [:]

    mutating func add(_ value: BinaryListValue) -> Int {
        let objectIndex = objects.count
        switch value {
        case .scalar(let bytes):
            if let known = scalars[bytes] {
                return known
            }
            scalars[bytes] = objectIndex
            objects.append(.scalar(bytes))
        case .array(let values):
            objects.append(.scalar([]))
            objects[objectIndex] = .container(kind: 0xA, count: values.count, references: values.map { add($0) })
        case .dictionary(let members):
            objects.append(.scalar([]))
            let names = members.map { add(.scalar($0.name)) }
            let references = names + members.map { add($0.value) }
            objects[objectIndex] = .container(kind: 0xD, count: members.count, references: references)
        }
        return objectIndex
    }

    var bytes: [UInt8] {
        var text = Array("bplist00".utf8)
        var offsets: [Int] = []
        let referenceSize = Self.size(of: objects.count)
        for object in objects {
            offsets.append(text.count)
            switch object {
            case .scalar(let bytes): text += bytes
            case .container(let kind, let count, let references):
                text.append(kind << 4 | UInt8(min(count, 0xF)))
                if count >= 0xF {
                    let size = Self.size(of: count)
                    text.append(0x10 | UInt8(size.trailingZeroBitCount))
                    text += Self.number(count, size)
                }
                references.forEach { text += Self.number($0, referenceSize) }
            }
        }
        let (offsetTable, offsetSize) = (text.count, Self.size(of: text.count))
        offsets.forEach { text += Self.number($0, offsetSize) }
        text += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
        return text + Self.number(objects.count, 8) + Self.number(0, 8) + Self.number(offsetTable, 8)
    }

    private static func size(of number: Int) -> Int {
        number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : number < 1 << 32 ? 4 : 8
    }

    private static func number(_ number: Int, _ size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: number >> (8 * (size - 1 - $0))) }
    }
}
