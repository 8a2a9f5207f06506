/// Fields in the bytes of an entry's metadata; strings are created only for the fields that are read.
final class StoredFields: ResponseStorage {
    private let metadata: Bytes
    private let places: [(name: Range<Int>, value: Range<Int>)]

    /// `nil` if the bytes are too short.
    init?(_ metadata: Bytes, _ span: Span<UInt8>, at offset: Int) {
        var reader = MetadataReader(at: offset)
        guard let count: UInt32 = reader.number(in: span), Int(count) <= span.count / 8 else { return nil }
        var places: [(name: Range<Int>, value: Range<Int>)] = []
        places.reserveCapacity(Int(count))
        for _ in 0..<count {
            guard let name = reader.range(in: span), let value = reader.range(in: span) else { return nil }
            places.append((name, value))
        }
        self.metadata = metadata
        self.places = places
    }

    var headerCount: Int { places.count }

    func headerField(at index: Int) -> Headers.Field {
        metadata.withSpan { span in
            Headers.Field(
                name: String(replacingInvalid: span.extracting(places[index].name)),
                content: content(places[index].value, in: span))
        }
    }

    func headerContent(named name: String) -> ByteText? {
        metadata.withSpan { span in
            let place = places.first { $0.name.count == name.utf8.count && isName(name, at: $0.name, in: span) }
            return place.map { content($0.value, in: span) }
        }
    }

    private func content(_ range: Range<Int>, in span: Span<UInt8>) -> ByteText {
        ByteText(bytes: range.map { span[$0] })
    }

    private func isName(_ name: String, at range: Range<Int>, in span: Span<UInt8>) -> Bool {
        func lowered(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte + 32 : byte }
        return zip(range, name.utf8).allSatisfy { lowered(span[$0]) == lowered($1) }
    }

    // Only the fields of the response are here.
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
