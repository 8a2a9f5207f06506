import NetKit

/// Checks the depth and size of a property list before it is decoded. Foundation's decoder recurses without a limit,
/// and a binary list can contain itself. Pure.
enum PropertyListMeasure {
    static let maxDepth = 128
    static let maxValues = 1_000_000
    /// The limit of the bytes of all strings and data. If the encoded list itself is longer, its length is the limit.
    static let maxBytes = 256 << 20

    /// Throws `NetError.Code.decoding` if the list exceeds a limit, or is neither XML nor binary.
    static func check(_ bytes: Bytes, maxValues: Int = maxValues) throws(NetError) {
        if bytes.starts(with: "bplist".utf8) {
            var list = try BinaryPropertyList(Array(bytes), maxValues: maxValues)
            try list.check()
        } else if isXML(bytes) {
            var text = XMLPropertyList(maxValues: maxValues)
            try bytes.withSpan { span throws(NetError) in try text.check(span) }
        } else {
            throw NetError(.decoding, "the body is not a property list (neither XML nor binary)")
        }
    }

    static var tooDeep: NetError {
        NetError(.decoding, "the property list is nested more than \(maxDepth) levels deep")
    }

    static func tooMany(_ limit: Int) -> NetError {
        NetError(.decoding, "the property list has more than \(limit) values")
    }

    static func tooLong(_ limit: Int) -> NetError {
        NetError(
            .decoding,
            "the property list has more than \(limit) bytes of strings and data, counted once for each reference")
    }

    private static func isXML(_ bytes: Bytes) -> Bool {
        let text = bytes.dropFirst(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
        return text.first { ![0x09, 0x0A, 0x0C, 0x0D, 0x20].contains($0) } == UInt8(ascii: "<")
    }
}

/// Computes an upper bound of the depth of an XML list.
/// Foundation's parser may find the end of a comment or processing instruction at a different position. Therefore,
/// within such text, opening tags increase the depth until its end, and closing tags do not decrease it.
private struct XMLPropertyList {
    private let maxValues: Int
    private var depth = 0
    private var count = 0
    private var position = 0

    init(maxValues: Int) {
        self.maxValues = maxValues
    }

    mutating func check(_ text: Span<UInt8>) throws(NetError) {
        while position < text.count {
            guard text[position] == UInt8(ascii: "<") else {
                position += 1
                continue
            }
            let next = position + 1 < text.count ? text[position + 1] : 0
            if next == UInt8(ascii: "/") {
                depth = max(0, depth - 1)
                position += 2
            } else if next == UInt8(ascii: "?") {
                try skip("?", 1, behind: position + 2, in: text)
            } else if next == UInt8(ascii: "!") {
                try skipMarked(text)
            } else {
                try takeTag(text)
            }
        }
    }

    /// Counts a tag. Each opening tag is a value, except the outermost, which is `plist`.
    private mutating func takeTag(_ text: Span<UInt8>) throws(NetError) {
        position += 1
        while position < text.count, text[position] != UInt8(ascii: ">") {
            position += 1
        }
        guard depth <= PropertyListMeasure.maxDepth else { throw PropertyListMeasure.tooDeep }
        guard count <= maxValues else { throw PropertyListMeasure.tooMany(maxValues) }
        count += 1
        if text[position - 1] != UInt8(ascii: "/") {
            depth += 1
        }
    }

    /// Skips a comment or CDATA section. Of a document type, only "<!" is skipped.
    private mutating func skipMarked(_ text: Span<UInt8>) throws(NetError) {
        let next = position + 2 < text.count ? text[position + 2] : 0
        if next == UInt8(ascii: "-") {
            try skip("-", 2, behind: position + 4, in: text)
        } else if next == UInt8(ascii: "[") {
            // In a CDATA section, "<" is text.
            try skip("]", 2, behind: position + 3, in: text, countsTags: false)
        } else {
            position += 2
        }
    }

    /// Moves to the byte after the next ">" that follows at least `count` of these characters.
    private mutating func skip(
        _ sign: Unicode.Scalar, _ count: Int, behind start: Int, in text: Span<UInt8>, countsTags: Bool = true
    ) throws(NetError) {
        var signs = 0
        var opened = depth
        position = min(start, text.count)
        while position < text.count {
            let byte = text[position]
            position += 1
            if byte == UInt8(ascii: ">"), signs >= count {
                return
            }
            signs = byte == UInt8(ascii: sign) ? signs + 1 : 0
            if byte == UInt8(ascii: "<"), countsTags, position < text.count, text[position] != UInt8(ascii: "/") {
                opened += 1
            }
            if opened > PropertyListMeasure.maxDepth + 1 {
                throw PropertyListMeasure.tooDeep
            }
        }
    }
}

/// The objects of a binary property list and their references.
private struct BinaryPropertyList {
    private let bytes: [UInt8]
    private let offsetBytes: Int
    private let referenceBytes: Int
    private let count: Int
    private let root: Int
    private let table: Int
    private let maxValues: Int
    private let maxBytes: Int
    private var measured: [Int: Size] = [:]

    /// The measured size of an object.
    private struct Size {
        /// The number of values in the object, including itself.
        var values = 1
        /// The levels of nesting; 0 while the object is being measured.
        var depth = 1
        /// The bytes of strings and data in the object. A decoder copies them for each reference.
        var bytes = 0
    }

    private static var malformed: NetError { NetError(.decoding, "the binary property list is malformed") }

    init(_ bytes: [UInt8], maxValues: Int) throws(NetError) {
        self.maxValues = maxValues
        maxBytes = max(PropertyListMeasure.maxBytes, bytes.count)
        guard bytes.count >= 40 else { throw Self.malformed }
        let trailer = bytes.count - 32
        self.bytes = bytes
        offsetBytes = Int(bytes[trailer + 6])
        referenceBytes = Int(bytes[trailer + 7])
        count = try Self.number(bytes, at: trailer + 8, 8)
        root = try Self.number(bytes, at: trailer + 16, 8)
        table = try Self.number(bytes, at: trailer + 24, 8)
        let (tableBytes, isTooLarge) = count.multipliedReportingOverflow(by: offsetBytes)
        guard (1...8).contains(offsetBytes), (1...8).contains(referenceBytes), !isTooLarge, table <= trailer,
            tableBytes <= trailer - table, root < count
        else { throw Self.malformed }
    }

    private static func number(_ bytes: [UInt8], at offset: Int, _ length: Int) throws(NetError) -> Int {
        guard offset >= 0, length <= bytes.count - offset else { throw malformed }
        let value = bytes[offset..<offset + length].reduce(into: UInt64(0)) { $0 = $0 << 8 | UInt64($1) }
        guard value <= UInt64(Int32.max) else { throw malformed }
        return Int(value)
    }

    /// Returns the indices of the objects that a container refers to, or the number of bytes of a string or data.
    private func content(of object: Int) throws(NetError) -> (references: [Int], bytes: Int) {
        var offset = try Self.number(bytes, at: table + object * offsetBytes, offsetBytes)
        guard offset < table else { throw Self.malformed }
        let kind = bytes[offset] >> 4
        let hasReferences = [0xA, 0xB, 0xC, 0xD].contains(kind)
        guard hasReferences || [0x4, 0x5, 0x6].contains(kind) else { return ([], 0) }
        var length = Int(bytes[offset] & 0xF)
        offset += 1
        if length == 0xF {
            guard offset < table, bytes[offset] >> 4 == 1, bytes[offset] & 0xF <= 3 else { throw Self.malformed }
            let size = 1 << Int(bytes[offset] & 0xF)
            length = try Self.number(bytes, at: offset + 1, size)
            offset += 1 + size
        }
        guard hasReferences else {
            // Data and ASCII strings have one byte for each unit, UTF-16 strings have two.
            let own = kind == 0x6 ? 2 * length : length
            guard offset <= table, own <= table - offset else { throw Self.malformed }
            return ([], own)
        }
        let all = kind == 0xD ? 2 * length : length
        guard offset <= table, all <= (table - offset) / referenceBytes else { throw Self.malformed }
        var found: [Int] = []
        found.reserveCapacity(all)
        for index in 0..<all {
            found.append(try Self.number(bytes, at: offset + index * referenceBytes, referenceBytes))
        }
        return (found, 0)
    }

    mutating func check() throws(NetError) {
        _ = try measure(root, within: PropertyListMeasure.maxDepth)
    }

    /// Measures an object and everything in it. The recursion is bounded by the maximum depth.
    private mutating func measure(_ object: Int, within levels: Int) throws(NetError) -> Size {
        guard object < count else { throw Self.malformed }
        if let known = measured[object] {
            guard known.depth > 0 else {
                throw NetError(.decoding, "the binary property list contains itself")
            }
            guard known.depth <= levels else { throw PropertyListMeasure.tooDeep }
            return known
        }
        guard levels > 0 else { throw PropertyListMeasure.tooDeep }
        measured[object] = Size(values: 0, depth: 0)
        let content = try content(of: object)
        var sum = Size(bytes: content.bytes)
        for reference in content.references {
            let inner = try measure(reference, within: levels - 1)
            sum.values += inner.values
            sum.depth = max(sum.depth, inner.depth + 1)
            sum.bytes += inner.bytes
            guard sum.values <= maxValues else { throw PropertyListMeasure.tooMany(maxValues) }
            guard sum.bytes <= maxBytes else { throw PropertyListMeasure.tooLong(maxBytes) }
        }
        measured[object] = sum
        return sum
    }
}
