import Testing

@testable import NetKit

/// Metadata of a stored body.
struct StoredMetadataTests {
    private var response: StoredResponse {
        var head = StoredResponse.Head()
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
        return StoredResponse(head, headers: ["ETag": "\"x\"", "A": "", "a": "second"])
    }

    @Test func storedResponseReadsBackUnchanged() throws {
        guard case .storedResponse(let read)? = StoredMetadata(StoredMetadata.storedResponse(response).bytes) else {
            Issue.record("no answer")
            return
        }
        #expect(read.head == response.head)
        #expect(read.headers == response.headers)
        #expect(read.headers["etag"] == "\"x\"" && read.headers["A"] == "" && read.headers["b"] == nil)
        #expect(read.headers.values(named: "A") == ["", "second"])
    }

    @Test func indexReadsBackUnchanged() {
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

    @Test func truncatedMetadataIsRejected() {
        var index = VariantIndex(generation: 1)
        _ = index.add(Vary(names: ["accept"]))
        for bytes in [StoredMetadata.storedResponse(response).bytes, StoredMetadata.index(index).bytes] {
            for length in 0..<bytes.count {
                #expect(isNone(StoredMetadata(Bytes(Array(bytes.prefix(length))))), "\(length)")
            }
        }
    }

    @Test func corruptedMetadataIsReadSafely() {
        let bytes = Array(StoredMetadata.storedResponse(response).bytes)
        for place in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[place] ^= 1 << bit
                guard case .storedResponse(let read)? = StoredMetadata(Bytes(changed)) else { continue }
                #expect(read.headers.reduce(0) { $0 + $1.name.utf8.count } <= bytes.count)
            }
        }
    }

    @Test func parsedMetadataIsInvalidatedWhenTheEntryChanges() {
        let key = CacheKey.test("k")
        var entry = CacheEntry(body: [1], metadata: StoredMetadata.storedResponse(response).bytes)
        let copy = entry
        #expect(entry.cachedResponse(under: key)?.response.status == 203)
        #expect(copy.cachedResponse(under: key) === entry.cachedResponse(under: key))
        #expect(copy.cachedResponse(under: .test("other"))?.key == .test("other"))
        var head = response.head
        head.status = 404
        entry.metadata = StoredMetadata.storedResponse(StoredResponse(head, headers: [:])).bytes
        #expect(entry.cachedResponse(under: key)?.response.status == 404)
        entry.body = [2, 3]
        #expect(entry.cachedResponse(under: key)?.response.bytes == [2, 3])
        entry.metadata = [1, 2, 3]
        #expect(entry.cachedResponse(under: key) === nil && entry != copy)
        #expect(copy.cachedResponse(under: key)?.response.bytes == [1])
    }
}

private func isNone(_ metadata: StoredMetadata?) -> Bool {
    if case nil = metadata { true } else { false }
}
