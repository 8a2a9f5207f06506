/// The header fields in the metadata of a stored response. Strings are created only for fields that are read.
final class StoredFields: ResponseStorage {
    let metadata: Bytes
    /// The positions of each name and value in the metadata.
    let ranges: [(name: Range<Int>, value: Range<Int>)]
    /// A field after those in the metadata.
    let lastField: Headers.Field?

    /// Returns `nil` if the bytes are too short.
    init?(_ metadata: Bytes, _ span: Span<UInt8>, at offset: Int) {
        var reader = MetadataReader(at: offset)
        guard let count: UInt32 = reader.number(in: span), Int(count) <= span.count / 8 else { return nil }
        var ranges: [(name: Range<Int>, value: Range<Int>)] = []
        ranges.reserveCapacity(Int(count))
        for _ in 0..<count {
            guard let name = reader.range(in: span), let value = reader.range(in: span) else { return nil }
            ranges.append((name, value))
        }
        self.metadata = metadata
        self.ranges = ranges
        lastField = nil
    }

    fileprivate init(_ stored: StoredFields, followedBy field: Headers.Field) {
        metadata = stored.metadata
        ranges = stored.ranges
        lastField = field
    }

    var headerCount: Int { ranges.count + (lastField == nil ? 0 : 1) }

    func headerField(at index: Int) -> Headers.Field {
        if let lastField, index == ranges.count {
            return lastField
        }
        return metadata.withSpan { span in
            Headers.Field(
                name: String(replacingInvalid: span.extracting(ranges[index].name)),
                content: content(ranges[index].value, in: span))
        }
    }

    func headerContent(named name: String) -> ByteText? {
        let found = metadata.withSpan { span in
            let field = ranges.first { $0.name.count == name.utf8.count && isName(name, at: $0.name, in: span) }
            return field.map { content($0.value, in: span) }
        }
        guard found == nil, let lastField, lastField.name.isEqualIgnoringASCIICase(to: name) else { return found }
        return lastField.content
    }

    private func content(_ range: Range<Int>, in span: Span<UInt8>) -> ByteText {
        ByteText(bytes: range.map { span[$0] })
    }

    private func isName(_ name: String, at range: Range<Int>, in span: Span<UInt8>) -> Bool {
        func lowered(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte + 32 : byte }
        return zip(range, name.utf8).allSatisfy { lowered(span[$0]) == lowered($1) }
    }

    // The rest of ResponseStorage is not used, because the metadata contains only header fields here.
    var status: Int { 0 }
    var httpVersion: HTTPVersion { .unknown }
    var url: String { "" }
    var trailers: Headers { [:] }
    var isCloseDelimited: Bool { false }
    var hopCount: Int { 0 }
    func hop(at index: Int) -> HopMetrics { HopMetrics() }
    var bodyCount: Int { 0 }

    func withBody<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body([UInt8]().span)
    }
}

extension Headers {
    /// Returns these fields, followed by another one. Stored fields are not copied.
    func followed(by field: Field) -> Headers {
        if let stored = received as? StoredFields, stored.lastField == nil {
            return Headers(received: StoredFields(stored, followedBy: field))
        }
        var headers = self
        headers.append(field)
        return headers
    }
}
