/// The binary format of the metadata. Numbers are little-endian. A text or a blob is preceded by its length in four
/// bytes.
///
///     "NKC2"    kind: 1 a response, 2 an index of variants
///     response: HTTP version, status (2 bytes), received, version, lifetime, initial age, stale-while-revalidate,
///               stale-if-error (8 each, all ones for none), flags, validator (1 each), sensitive, owner, app version,
///               URL, number of hosts (4) and the hosts, number of fields (4), names and values
///     index:    generation (8), number of sets (4), and for each the number of names (4) and the names
extension StoredMetadata {
    private static let magic: [UInt8] = Array("NKC2".utf8)

    /// The encoded metadata.
    var bytes: Bytes {
        var writer = MetadataWriter(bytes: Self.magic)
        switch self {
        case .storedResponse(let storedResponse):
            writer.append(1 as UInt8)
            writer.append(storedResponse.head)
            writer.append(UInt32(storedResponse.headers.count))
            for field in storedResponse.headers {
                writer.append(field.name)
                writer.append(field.content.bytes)
            }
        case .index(let index):
            writer.append(2 as UInt8)
            writer.append(index.generation)
            writer.append(UInt32(index.choices.count))
            for choice in index.choices {
                writer.append(UInt32(choice.names.count))
                choice.names.forEach { writer.append($0) }
            }
        }
        return Bytes(writer.bytes)
    }

    /// Decodes metadata. Returns `nil` if the bytes have another format.
    init?(_ bytes: Bytes) {
        let read = bytes.withSpan { span -> StoredMetadata? in
            var reader = MetadataReader()
            guard reader.consume(Self.magic, in: span), let kind: UInt8 = reader.number(in: span) else { return nil }
            switch kind {
            case 1:
                guard let head = reader.head(in: span), let fields = StoredFields(bytes, span, at: reader.offset) else {
                    return nil
                }
                return .storedResponse(StoredResponse(head, headers: Headers(received: fields)))
            case 2: return reader.index(in: span).map { .index($0) }
            default: return nil
            }
        }
        guard let read else { return nil }
        self = read
    }
}

private struct MetadataWriter {
    var bytes: [UInt8]

    mutating func append(_ number: some FixedWidthInteger) {
        for shift in stride(from: 0, to: number.bitWidth, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    mutating func append(_ text: String) {
        append(UInt32(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    mutating func append(_ blob: [UInt8]) {
        append(UInt32(blob.count))
        bytes.append(contentsOf: blob)
    }

    mutating func append(_ head: StoredResponse.Head) {
        let freshness = head.freshness
        append(head.httpVersion.code)
        append(UInt16(clamping: head.status))
        for number in [
            head.received, head.version, freshness.lifetime ?? -1, freshness.initialAge,
            freshness.staleWhileRevalidate ?? -1, freshness.staleIfError ?? -1,
        ] {
            append(number)
        }
        append(freshness.flags.rawValue)
        append(head.hasValidator ? 1 : 0 as UInt8)
        append(head.sensitive)
        append(head.owner)
        append(head.appVersion)
        append(head.url)
        append(UInt32(head.hosts.count))
        head.hosts.forEach { append($0) }
    }
}

/// Reads values one after the other. The functions return `nil` if the bytes are too short.
struct MetadataReader {
    private(set) var offset = 0

    init(at offset: Int = 0) {
        self.offset = offset
    }

    mutating func consume(_ expected: [UInt8], in span: Span<UInt8>) -> Bool {
        guard span.count - offset >= expected.count else { return false }
        let isSame = expected.indices.allSatisfy { span[offset + $0] == expected[$0] }
        offset += expected.count
        return isSame
    }

    mutating func number<Number: FixedWidthInteger>(in span: Span<UInt8>) -> Number? {
        let width = Number.bitWidth / 8
        guard span.count - offset >= width else { return nil }
        var number: Number = 0
        for shift in 0..<width {
            number |= Number(truncatingIfNeeded: span[offset + shift]) << (shift * 8)
        }
        offset += width
        return number
    }

    /// Reads a text or a blob and returns its range.
    mutating func range(in span: Span<UInt8>) -> Range<Int>? {
        guard let count: UInt32 = number(in: span), span.count - offset >= Int(count) else { return nil }
        defer { offset += Int(count) }
        return offset..<offset + Int(count)
    }

    mutating func text(in span: Span<UInt8>) -> String? {
        range(in: span).map { String(replacingInvalid: span.extracting($0)) }
    }

    mutating func blob(in span: Span<UInt8>) -> [UInt8]? {
        range(in: span).map { range in range.map { span[$0] } }
    }

    mutating func head(in span: Span<UInt8>) -> StoredResponse.Head? {
        var head = StoredResponse.Head()
        guard let version: UInt8 = number(in: span), let status: UInt16 = number(in: span) else { return nil }
        var numbers: [Int64] = []
        for _ in 0..<6 {
            guard let number: Int64 = number(in: span) else { return nil }
            numbers.append(number)
        }
        guard let flags: UInt8 = number(in: span), let validator: UInt8 = number(in: span),
            let sensitive = blob(in: span), let owner = blob(in: span), let appVersion = text(in: span),
            let url = text(in: span), let hosts: UInt32 = number(in: span)
        else { return nil }
        for _ in 0..<hosts {
            guard let host = text(in: span) else { return nil }
            head.hosts.append(host)
        }
        head.httpVersion = HTTPVersion(code: version)
        head.status = Int(status)
        head.received = numbers[0]
        head.version = numbers[1]
        head.freshness.received = numbers[0]
        head.freshness.lifetime = numbers[2] < 0 ? nil : numbers[2]
        head.freshness.initialAge = max(0, numbers[3])
        head.freshness.staleWhileRevalidate = numbers[4] < 0 ? nil : numbers[4]
        head.freshness.staleIfError = numbers[5] < 0 ? nil : numbers[5]
        head.freshness.flags = HTTPFreshness.Flags(rawValue: flags)
        head.hasValidator = validator != 0
        head.sensitive = sensitive
        head.owner = owner
        head.appVersion = appVersion
        head.url = url
        return head
    }

    mutating func index(in span: Span<UInt8>) -> VariantIndex? {
        guard let generation: UInt64 = number(in: span), let count: UInt32 = number(in: span),
            count <= VariantIndex.maximumChoices
        else { return nil }
        var index = VariantIndex(generation: generation)
        for _ in 0..<count {
            guard let names: UInt32 = number(in: span) else { return nil }
            var choice: [String] = []
            for _ in 0..<names {
                guard let name = text(in: span) else { return nil }
                choice.append(name)
            }
            index.choices.append(Vary(names: choice))
        }
        return index
    }
}

extension HTTPVersion {
    fileprivate var code: UInt8 {
        switch self {
        case .unknown: 0
        case .http1_0: 10
        case .http1_1: 11
        case .http2: 20
        case .http3: 30
        }
    }

    fileprivate init(code: UInt8) {
        switch code {
        case 10: self = .http1_0
        case 11: self = .http1_1
        case 20: self = .http2
        case 30: self = .http3
        default: self = .unknown
        }
    }
}
