/// The response that is stored under a key, decoded for use.
final class StoredPiece: Sendable {
    let key: CacheKey
    let answer: StoredAnswer
    let body: Bytes
    /// The stored response: its head, its body and its URL.
    let response: Response<Bytes>

    init(key: CacheKey, answer: StoredAnswer, body: Bytes) {
        let head = answer.head
        self.key = key
        self.answer = answer
        self.body = body
        var hop = HopMetrics()
        hop.url = head.url
        hop.status = head.status
        hop.httpVersion = head.httpVersion
        hop.decodedBytes = body.count
        let content = ResponseContent(
            status: head.status, headers: answer.headers, bytes: body, httpVersion: head.httpVersion,
            metrics: Metrics([hop]), source: .cache)
        response = Response(value: body, content: content)
    }

    /// Returns true if it satisfies a request's expectation.
    func isExpected(by request: Request<Bytes>) -> Bool {
        do throws(NetError) {
            try request.checkHead(response, types: nil)
            try request.checkBody(body, of: response)
            return true
        } catch {
            return false
        }
    }
}

extension CacheEntry {
    /// Returns its response with this key, or `nil` if the entry is no response.
    func piece(under key: CacheKey) -> StoredPiece? {
        if let read = kept.piece, read.key == key {
            return read
        }
        guard case .answer(let answer)? = StoredMetadata(metadata) else { return nil }
        let piece = StoredPiece(key: key, answer: answer, body: body)
        kept.remember(piece)
        return piece
    }
}
