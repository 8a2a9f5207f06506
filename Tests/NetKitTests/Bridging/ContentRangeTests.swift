import Testing

@testable import NetKit

/// The tables of the core's tests of Content-Range.
struct ContentRangeTests {
    @Test(arguments: [
        "", "bytes", "bytes 0-49", "bytes 0-/100", "bytes -49/100", "bytes 49-0/100", "bytes 0-100/100", "bytes 0-49/",
        "bytes */*", "bytes */100", "bytes=0-49/100", "lines 0-49/100", "bytes 0x0-49/100", "bytes +0-49/100",
        "bytes 0-49/99999999999999999999", "bytes 0-49/100, 50-60/100",
    ])
    func invalidRangeIsNone(field: String) {
        #expect(ContentRange(field) == nil)
    }

    @Test(
        arguments: [("Bytes 7-49/100", 7, 49, 100), (" bytes 0-0/* ", 0, 0, nil), ("bytes 0-9/10", 0, 9, 10)]
            as [(String, Int, Int, Int?)])
    func rangeHasItsNumbers(field: String, start: Int, end: Int, total: Int?) throws {
        let range = try #require(ContentRange(field))
        #expect((range.start, range.end) == (start, end))
        #expect(range.total == total)
    }

    @Test func absentFieldIsNone() {
        #expect(ContentRange(nil) == nil)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let status: Int
        let fields: [String: String]
        let isPart: Bool
        var testDescription: String { "\(status) \(fields)" }
    }

    @Test(arguments: [
        Row(status: 206, fields: [:], isPart: true),
        Row(status: 206, fields: ["Content-Range": "bytes 0-9/10"], isPart: true),
        Row(status: 200, fields: ["Content-Length": "10"], isPart: false),
        Row(status: 200, fields: ["content-range": "bytes 0-9/10", "Content-Length": "10"], isPart: false),
        Row(status: 200, fields: ["Content-Range": "Bytes 0-9/10"], isPart: false),
        Row(status: 200, fields: ["Content-Range": "bytes 0-9/10", "CONTENT-LENGTH": "9"], isPart: true),
        Row(
            status: 200,
            fields: ["Content-Range": "bytes 0-9/10", "Content-Length": "9", "Content-Encoding": "gzip"],
            isPart: false),
        Row(status: 200, fields: ["Content-Range": "bytes 1-9/10"], isPart: true),
        Row(status: 203, fields: ["Content-Range": "bytes 0-8/10"], isPart: true),
        Row(status: 200, fields: ["Content-Range": "bytes 0-9/*"], isPart: true),
        Row(status: 200, fields: ["Content-Range": "bytes x"], isPart: true),
        Row(status: 200, fields: ["Content-Range": "lines 1-9/10"], isPart: false),
        Row(status: 404, fields: ["Content-Range": "bytes 1-9/10"], isPart: false),
        Row(status: 0, fields: ["Content-Range": "bytes 1-9/10"], isPart: false),
        Row(status: -1, fields: [:], isPart: false),
    ])
    func partCoversLessThanTheWhole(row: Row) {
        let headers = Headers(row.fields.map { Headers.Field(name: $0.key, value: $0.value) })
        #expect(headers.describePart(status: row.status) == row.isPart)
    }

    @Test func twoRangesAreAPart() {
        let field = Headers.Field(name: "Content-Range", value: "bytes 0-9/10")
        #expect(Headers([field, field]).describePart(status: 200))
    }
}
