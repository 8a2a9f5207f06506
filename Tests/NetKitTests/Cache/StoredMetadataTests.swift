import Testing

@testable import NetKit

/// Metadata of a stored body.
struct StoredMetadataTests {
    private var answer: StoredAnswer {
        var head = StoredAnswer.Head()
        head.status = 203
        head.httpVersion = .http2
        head.url = "http://h/ü"
        head.received = -5
        head.version = .min
        head.appVersion = "1.2"
        head.sensitive = [1, 2, 3]
        head.owner = [9]
        head.hosts = ["a.test", "::1"]
        head.hasValidator = true
        head.freshness.received = -5
        head.freshness.lifetime = 7
        head.freshness.initialAge = 8
        head.freshness.staleIfError = 0
        head.freshness.flags = [.noCache, .immutable]
        return StoredAnswer(head, headers: ["ETag": "\"x\"", "A": "", "a": "second"])
    }

    @Test func anAnswerIsReadAsItWasWritten() throws {
        guard case .answer(let read)? = StoredMetadata(StoredMetadata.answer(answer).bytes) else {
            Issue.record("no answer")
            return
        }
        #expect(read.head == answer.head)
        #expect(read.headers == answer.headers)
        #expect(read.headers["etag"] == "\"x\"" && read.headers["A"] == "" && read.headers["b"] == nil)
        #expect(read.headers.values(named: "A") == ["", "second"])
    }

    @Test func anIndexIsReadAsItWasWritten() {
        var index = VariantIndex(generation: .max)
        #expect(index.add(Vary(names: ["a", "b"])) && index.add(Vary(names: ["c"])) && !index.add(Vary(names: ["c"])))
        guard case .index(let read)? = StoredMetadata(StoredMetadata.index(index).bytes) else {
            Issue.record("no index")
            return
        }
        #expect(read == index)
        for number in 0..<20 {
            _ = index.add(Vary(names: ["\(number)"]))
        }
        #expect(index.choices.count == VariantIndex.maximumChoices && index.choices[0].names == ["19"])
    }

    @Test func whatIsCutIsNone() {
        var index = VariantIndex(generation: 1)
        _ = index.add(Vary(names: ["accept"]))
        for bytes in [StoredMetadata.answer(answer).bytes, StoredMetadata.index(index).bytes] {
            for length in 0..<bytes.count {
                #expect(isNone(StoredMetadata(Bytes(Array(bytes.prefix(length))))), "\(length)")
            }
        }
    }

    @Test func whatIsChangedIsReadWithoutHarm() {
        let bytes = Array(StoredMetadata.answer(answer).bytes)
        for place in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[place] ^= 1 << bit
                guard case .answer(let read)? = StoredMetadata(Bytes(changed)) else { continue }
                #expect(read.headers.reduce(0) { $0 + $1.name.utf8.count } <= bytes.count)
            }
        }
    }

    @Test func whatWasReadOfAnEntryIsForgottenWhenTheEntryChanges() {
        let key = CacheKey.test("k")
        var entry = CacheEntry(body: [1], metadata: StoredMetadata.answer(answer).bytes)
        let copy = entry
        #expect(entry.piece(under: key)?.response.status == 203)
        #expect(copy.piece(under: key) === entry.piece(under: key))
        #expect(copy.piece(under: .test("other"))?.key == .test("other"))
        var head = answer.head
        head.status = 404
        entry.metadata = StoredMetadata.answer(StoredAnswer(head, headers: [:])).bytes
        #expect(entry.piece(under: key)?.response.status == 404)
        entry.body = [2, 3]
        #expect(entry.piece(under: key)?.response.bytes == [2, 3])
        entry.metadata = [1, 2, 3]
        #expect(entry.piece(under: key) === nil && entry != copy)
        #expect(copy.piece(under: key)?.response.bytes == [1])
    }
}

private func isNone(_ metadata: StoredMetadata?) -> Bool {
    if case nil = metadata { true } else { false }
}
