/// The recorded data of a transfer. It never references a body that the archive will not show.
enum HARRecord {
    struct Request: Sendable {
        let method: Method
        let url: String
        let headers: Headers
        let contentType: String?
        /// Empty if the body exceeds the limit or is not in memory.
        let bytes: Bytes
        /// -1 if the body is read while it is sent.
        let bodySize: Int

        init(_ request: NetKit.Request<Bytes>, maxBodyBytes: Int) {
            method = request.method
            url = request.url
            headers = request.headers
            contentType = request.body?.contentType
            bytes = request.body?.bytes.detached(upTo: maxBodyBytes) ?? []
            bodySize = request.body.map { $0.wholeBytes?.count ?? -1 } ?? 0
        }
    }

    struct Response: Sendable {
        let status: Int
        let headers: Headers
        /// Empty if the body exceeds the limit.
        let bytes: Bytes

        init(_ response: NetKit.Response<Bytes>, maxBodyBytes: Int) {
            status = response.status
            // A copy, because a received response's own fields would keep its body in memory.
            headers = Headers(response.headers.map { $0 })
            bytes = response.bytes.detached(upTo: maxBodyBytes)
        }
    }

    struct Outcome: Sendable {
        var response: Response?
        var hops: [HopMetrics]
        /// The description of the error, or `nil` if there was a response.
        var failure: String?

        init(_ outcome: Event.Outcome, maxBodyBytes: Int) {
            switch outcome {
            case .answered(let answer):
                response = Response(answer, maxBodyBytes: maxBodyBytes)
                hops = Array(answer.metrics)
            case .failed(let error):
                response = error.response.map { Response($0, maxBodyBytes: maxBodyBytes) }
                hops = Array(error.metrics)
                failure = error.description
            }
        }

        /// Whether the response has arrived and its body may not have ended.
        var isUnended: Bool { failure == nil && hops.last?.ended == nil }

        /// Returns the final outcome, completed by what the response head contained.
        func completed(by end: Outcome) -> Outcome {
            let hasAllHops = end.hops.count >= hops.count
            if end.failure != nil {
                var failed = end
                failed.response = end.response ?? response
                failed.hops = hasAllHops ? end.hops : hops
                return failed
            }
            return end.response != nil && hasAllHops ? end : self
        }
    }
}

extension Bytes {
    /// Returns a copy, so that no larger buffer stays in memory. Empty if it exceeds the limit.
    fileprivate func detached(upTo count: Int) -> Bytes {
        isEmpty || self.count > count ? [] : Bytes(Array(self))
    }
}
