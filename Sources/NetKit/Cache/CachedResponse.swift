/// A stored response with its key and its body, decoded for use.
final class CachedResponse: Sendable {
    let key: CacheKey
    let storedResponse: StoredResponse
    let body: Bytes
    /// The response for the caller, with head, body and URL.
    let response: Response<Bytes>

    init(key: CacheKey, storedResponse: StoredResponse, body: Bytes) {
        let head = storedResponse.head
        self.key = key
        self.storedResponse = storedResponse
        self.body = body
        var hop = HopMetrics()
        hop.url = head.url
        hop.status = head.status
        hop.httpVersion = head.httpVersion
        hop.decodedBytes = body.count
        let content = ResponseContent(
            status: head.status, headers: storedResponse.headers, bytes: body, httpVersion: head.httpVersion,
            metrics: Metrics([hop]), source: .cache)
        response = Response(value: body, content: content)
    }

    /// Returns true if the response meets a request's expectations of status, type and JSON.
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
    /// Returns the entry's response, or `nil` if the entry is not a response.
    func cachedResponse(under key: CacheKey) -> CachedResponse? {
        if let decoded = storage.cachedResponse, decoded.key == key {
            return decoded
        }
        guard case .storedResponse(let storedResponse)? = StoredMetadata(metadata) else { return nil }
        let cachedResponse = CachedResponse(key: key, storedResponse: storedResponse, body: body)
        storage.setDecoded(cachedResponse)
        return cachedResponse
    }
}

/// The head of a stored response, with which an app can inspect a store.
package struct CachedResponseHead: Sendable {
    /// The status code.
    package let status: Int
    /// The HTTP version.
    package let httpVersion: HTTPVersion
    /// The stored fields.
    package let headers: Headers
    /// The URL of the response, without credentials.
    package let url: String
    /// The time of arrival, in seconds since 1970.
    package let receivedEpochSeconds: Double
    /// The ``CachePolicy/version`` with which the response was stored.
    package let version: Int64
    /// The ``CachePolicy/appVersion`` with which the response was stored.
    package let appVersion: String
}

extension CacheEntry {
    /// The head of the stored response; `nil` if the entry is not a response.
    package var cachedResponseHead: CachedResponseHead? {
        guard case .storedResponse(let storedResponse)? = StoredMetadata(metadata) else { return nil }
        let head = storedResponse.head
        return CachedResponseHead(
            status: head.status, httpVersion: head.httpVersion, headers: storedResponse.headers, url: head.url,
            receivedEpochSeconds: Double(head.received) / 1000, version: head.version, appVersion: head.appVersion)
    }
}
