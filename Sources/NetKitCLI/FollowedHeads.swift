import NetKit

/// The heads of the redirects that one request has followed: an error tells of the last response alone.
final class FollowedHeads: Observer {
    private let heads = Lock<[ResponseHead]>([])

    func observe(_ event: Event) {
        switch event.change {
        case .exchangeStarted: heads.withLock { $0 = [] }  // A retry begins anew.
        case .redirected(let head, _): heads.withLock { $0.append(head) }
        default: break
        }
    }

    /// They, and the response with which it ended, if there was one.
    func all(with last: Response<Bytes>?) -> [ResponseHead] {
        let followed = heads.withLock { $0 }
        guard let last, last.status > 0 else { return followed }
        return followed + [
            ResponseHead(status: last.status, headers: last.headers, httpVersion: last.httpVersion, url: last.url)
        ]
    }
}
