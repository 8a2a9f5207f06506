import NetKit

/// Collects the heads of the redirects of one request, because an error has only the last response.
final class RedirectHeads: Observer {
    private let heads = Lock<[ResponseHead]>([])

    func observe(_ event: Event) {
        switch event.change {
        case .exchangeStarted: heads.withLock { $0 = [] }  // A retry starts again.
        case .redirected(let head, _): heads.withLock { $0.append(head) }
        default: break
        }
    }

    /// Returns the heads, and that of the last response, if there was one.
    func all(with last: Response<Bytes>?) -> [ResponseHead] {
        let followed = heads.withLock { $0 }
        guard let last, last.status > 0 else { return followed }
        return followed + [
            ResponseHead(status: last.status, headers: last.headers, httpVersion: last.httpVersion, url: last.url)
        ]
    }
}
