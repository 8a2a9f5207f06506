/// Checks an accepted response before its body is decoded. An invalid one ends the call with
/// ``NetError/Code/invalidValue`` and the response.
///
///     configuration.interceptors = [ValidateResponse { response in
///         if response.headers["X-Result"] == "failed" { throw Refusal() }
///     }]
///
/// Place it before ``ReformResponse`` to check the replaced response. Responses with a status that the request does not
/// accept, and streamed or saved bodies, are not checked.
public struct ValidateResponse: Interceptor {
    private let judge: @Sendable (Response<Bytes>) async throws -> Void

    /// Creates a check from a closure that throws for an invalid response. A thrown ``NetError`` ends the call
    /// unchanged; any other error becomes ``NetError/underlying``.
    public init(_ judge: @escaping @Sendable (Response<Bytes>) async throws -> Void) {
        self.judge = judge
    }

    /// Creates a check from a closure that returns whether a response is valid.
    public init(where isValid: @escaping @Sendable (Response<Bytes>) -> Bool) {
        self.init { response in
            if !isValid(response) {
                throw NetError(
                    .invalidValue, "the response from \(response.place) will not do", response: response)
            }
        }
    }

    /// Returns the response if it is valid.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        let answer = try await next(call)
        guard case .bytes = answer.body, call.request.acceptedStatuses?.contains(answer.status) ?? true else {
            return answer
        }
        do {
            try await judge(answer.response)
            return answer
        } catch {
            let response = answer.response
            throw NetError(
                asking: error, .invalidValue, "the response from \(response.place) will not do", response: response)
        }
    }
}
