/// What a recorder keeps of an exchange until an archive is asked for: nothing that holds a body it will not show.
enum HARRecord {
    struct Request: Sendable {
        let method: Method
        let url: String
        let headers: Headers
        let contentType: String?
        /// Empty where the body is longer than is kept, or not in memory.
        let bytes: Bytes
        /// -1 for a body that is read while it is sent.
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
        /// Empty where the body is longer than is kept.
        let bytes: Bytes

        init(_ response: NetKit.Response<Bytes>, maxBodyBytes: Int) {
            status = response.status
            // A received response's own fields would keep its body as well.
            headers = Headers(response.headers.map { $0 })
            bytes = response.bytes.detached(upTo: maxBodyBytes)
        }
    }

    struct Outcome: Sendable {
        var response: Response?
        var hops: [HopMetrics]
        /// What the error says of itself; nil for an answer.
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

        /// The response has come, but its body may not have ended.
        var isUnended: Bool { failure == nil && hops.last?.ended == nil }

        /// What is known at the end, over what was known with the head.
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
    /// A copy, so that nothing larger is kept for its sake; none of what is longer.
    fileprivate func detached(upTo count: Int) -> Bytes {
        isEmpty || self.count > count ? [] : Bytes(Array(self))
    }
}
