/// Measures depth and size of a property list before it is decoded. Foundation's decoder recurses without a limit, and
/// a binary list may contain itself. Pure.
enum PropertyListMeasure {
    static let maxDepth = 128
    static let maxValues = 1_000_000
    /// The limit of text and data bytes. For a longer list, its own length is the limit.
    static let maxBytes = 256 << 20

    /// Throws ``NetError/Code/undecodable`` for a list beyond the limits, or in neither XML nor binary format.
    static func check(_ bytes: Bytes, maxValues: Int = maxValues) throws(NetError) {
        if bytes.starts(with: "bplist".utf8) {
            var list = try BinaryPropertyList(Array(bytes), maxValues: maxValues)
            try list.check()
        } else if isXML(bytes) {
            var text = XMLPropertyList(maxValues: maxValues)
            try bytes.withSpan { span throws(NetError) in try text.check(span) }
        } else {
            throw NetError(.undecodable, "the body is no property list: neither XML nor binary")
        }
    }

    static var tooDeep: NetError { NetError(.undecodable, "the property list is more than \(maxDepth) deep") }

    static func tooMany(_ limit: Int) -> NetError {
        NetError(.undecodable, "the property list has more than \(limit) values")
    }

    static func tooLong(_ limit: Int) -> NetError {
        NetError(
            .undecodable,
            "the property list has more than \(limit) bytes of texts and data, each counted as often as referred to")
    }

    private static func isXML(_ bytes: Bytes) -> Bool {
        let text = bytes.dropFirst(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
        return text.first { !MarkupScan.isBlank($0) } == UInt8(ascii: "<")
    }
}

/// Counts tags as the most pessimistic reader. In skippable text, opening tags count until its end and closing tags do
/// not, so two interpretations of a comment's end cannot hide a depth.
private struct XMLPropertyList {
    private let maxValues: Int
    private var depth = 0
    private var count = 0
    private var at = 0

    init(maxValues: Int) {
        self.maxValues = maxValues
    }

    mutating func check(_ text: Span<UInt8>) throws(NetError) {
        while at < text.count {
            guard text[at] == UInt8(ascii: "<") else {
                at += 1
                continue
            }
            let next = at + 1 < text.count ? text[at + 1] : 0
            if next == UInt8(ascii: "/") {
                depth = max(0, depth - 1)
                at += 2
            } else if next == UInt8(ascii: "?") {
                try skip("?", 1, behind: at + 2, in: text)
            } else if next == UInt8(ascii: "!") {
                try skipMarked(text)
            } else {
                try takeTag(text)
            }
        }
    }

    /// Each tag is a value, except the outermost, which is `plist`.
    private mutating func takeTag(_ text: Span<UInt8>) throws(NetError) {
        at += 1
        while at < text.count, text[at] != UInt8(ascii: ">") {
            at += 1
        }
        guard depth <= PropertyListMeasure.maxDepth else { throw PropertyListMeasure.tooDeep }
        guard count <= maxValues else { throw PropertyListMeasure.tooMany(maxValues) }
        count += 1
        if text[at - 1] != UInt8(ascii: "/") {
            depth += 1
        }
    }

    /// Skips a comment or CDATA; a document type is no tag.
    private mutating func skipMarked(_ text: Span<UInt8>) throws(NetError) {
        let next = at + 2 < text.count ? text[at + 2] : 0
        if next == UInt8(ascii: "-") {
            try skip("-", 2, behind: at + 4, in: text)
        } else if next == UInt8(ascii: "[") {
            // It may contain markup, which is not structure.
            try skip("]", 2, behind: at + 3, in: text, countsTags: false)
        } else {
            at += 2
        }
    }

    /// Moves behind `count` of these characters and a ">".
    private mutating func skip(
        _ sign: Unicode.Scalar, _ count: Int, behind start: Int, in text: Span<UInt8>, countsTags: Bool = true
    ) throws(NetError) {
        var signs = 0
        var opened = depth
        at = min(start, text.count)
        while at < text.count {
            let byte = text[at]
            at += 1
            if byte == UInt8(ascii: ">"), signs >= count {
                return
            }
            signs = byte == UInt8(ascii: sign) ? signs + 1 : 0
            if byte == UInt8(ascii: "<"), countsTags, at < text.count, text[at] != UInt8(ascii: "/") {
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

    /// The size of a measured object.
    private struct Size {
        /// The values in it, including itself.
        var values = 1
        /// Its depth; 0 while it is measured.
        var depth = 1
        /// The bytes of texts and data in it. A decoder copies them for each reference.
        var bytes = 0
    }

    private static var malformed: NetError { NetError(.undecodable, "the binary property list is malformed") }

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

    private static func number(_ bytes: [UInt8], at place: Int, _ length: Int) throws(NetError) -> Int {
        guard place >= 0, length <= bytes.count - place else { throw malformed }
        let value = bytes[place..<place + length].reduce(into: UInt64(0)) { $0 = $0 << 8 | UInt64($1) }
        guard value <= UInt64(Int32.max) else { throw malformed }
        return Int(value)
    }

    /// Returns the objects that an object refers to, or its own bytes.
    private func content(of object: Int) throws(NetError) -> (references: [Int], bytes: Int) {
        var place = try Self.number(bytes, at: table + object * offsetBytes, offsetBytes)
        guard place < table else { throw Self.malformed }
        let kind = bytes[place] >> 4
        let hasReferences = [0xA, 0xB, 0xC, 0xD].contains(kind)
        guard hasReferences || [0x4, 0x5, 0x6].contains(kind) else { return ([], 0) }
        var length = Int(bytes[place] & 0xF)
        place += 1
        if length == 0xF {
            guard place < table, bytes[place] >> 4 == 1, bytes[place] & 0xF <= 3 else { throw Self.malformed }
            let size = 1 << Int(bytes[place] & 0xF)
            length = try Self.number(bytes, at: place + 1, size)
            place += 1 + size
        }
        guard hasReferences else {
            // For data, ASCII and UTF-16.
            let own = kind == 0x6 ? 2 * length : length
            guard place <= table, own <= table - place else { throw Self.malformed }
            return ([], own)
        }
        let all = kind == 0xD ? 2 * length : length
        guard place <= table, all <= (table - place) / referenceBytes else { throw Self.malformed }
        var found: [Int] = []
        found.reserveCapacity(all)
        for index in 0..<all {
            found.append(try Self.number(bytes, at: place + index * referenceBytes, referenceBytes))
        }
        return (found, 0)
    }

    mutating func check() throws(NetError) {
        _ = try measure(root, within: PropertyListMeasure.maxDepth)
    }

    /// Measures an object down to the maximum depth, which fits on any stack.
    private mutating func measure(_ object: Int, within levels: Int) throws(NetError) -> Size {
        guard object < count else { throw Self.malformed }
        if let known = measured[object] {
            guard known.depth > 0 else {
                throw NetError(.undecodable, "the binary property list holds itself")
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
