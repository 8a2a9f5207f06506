import NetKit
import Testing

/// The vectors of the C tests, through the Swift type.
struct ShapeVectorTests {
    @Test func everyVectorMatchesItsExpectedResultAndPath() throws {
        let rows = try vectorTrees("json_shape.json")
        #expect(rows.count > 100)
        for row in rows {
            try check(row)
        }
    }

    private func check(_ row: JSONValue) throws {
        let name = Comment(rawValue: row["name"]?.string ?? row.description)
        let text = row["text"]?.string ?? row["json"]?.description ?? ""
        let shape = try JSONShape(document: row["shape"]?.description ?? "")
        let faults = try shape.check(text, isLenient: row["lenient"]?.bool ?? false)
        #expect(faults.isEmpty == row["matches"]?.bool, name)
        if let pointer = row["pointer"]?.string {
            #expect(faults.first?.pointer == pointer, name)
        }
        if let wanted = row["wanted"]?.string {
            #expect(faults.first?.wanted == wanted, name)
        }
        if let found = row["found"]?.string {
            #expect(faults.first?.found == found, name)
        }
        if let offset = row["offset"]?.int {
            #expect(faults.first?.offset == offset, name)
        }
        let again = JSONShape.any.or(.null)
        #expect(try again.check(text).isEmpty, name)
    }

    @Test func chunkedInputGivesTheSameResult() throws {
        for row in try vectorTrees("json_shape.json") {
            let text = Array((row["text"]?.string ?? row["json"]?.description ?? "").utf8)
            var expectation = JSONExpectation(try JSONShape(document: row["shape"]?.description ?? ""))
            expectation.isLenient = row["lenient"]?.bool ?? false
            let whole = fault(of: text, in: text.count, expectation)
            #expect(fault(of: text, in: 1, expectation) == whole)
            #expect(fault(of: text, in: 7, expectation) == whole)
        }
    }

    private func fault(of text: [UInt8], in pieceBytes: Int, _ expectation: JSONExpectation) -> [JSONFault]? {
        do throws(NetError) {
            let check = try JSONCheck(expectation)
            for start in stride(from: 0, to: text.count, by: max(1, pieceBytes)) {
                try check.feed(Bytes(Array(text[start..<min(start + pieceBytes, text.count)])))
            }
            try check.finish()
            return nil
        } catch {
            return error.jsonFaults
        }
    }

    @Test func mismatchIsReportedWithItsPath() throws {
        let rows = try vectorTrees("json_shape_wrong.json")
        #expect(rows.count > 20)
        for row in rows {
            let name = Comment(rawValue: row["name"]?.string ?? "")
            let text = row["shape_text"]?.string ?? ""
            let error = try #require(throws: NetError.self, name) { try JSONShape(document: text) }
            #expect(error.code == .badShape, name)
            if let offset = row["offset"]?.int {
                #expect(error.offset == offset, name)
            }
            if let place = row["place"]?.string, place.utf8.count < 60 {
                #expect(error.message.contains("\"\(place)\""), name)
            }
        }
    }
}
