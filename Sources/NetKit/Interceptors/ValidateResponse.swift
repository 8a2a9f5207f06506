/// Judges a response that the request accepts, before its body becomes a value: one that will not do ends the call with
/// ``NetError/Code/invalidValue`` and the response.
///
///     configuration.interceptors = [ValidateResponse { response in
///         if response.headers["X-Result"] == "failed" { throw Refusal() }
///     }]
///
/// Stand it in front of ``ReformResponse`` to judge what that made. Responses of a status that the request does not
/// accept, and bodies that are streamed or saved, are not judged.
public struct ValidateResponse: Interceptor {
    private let judge: @Sendable (Response<Bytes>) async throws -> Void

    /// Throws for a response that will not do: a ``NetError`` as it is, anything else becomes
    /// ``NetError/underlying``.
    public init(_ judge: @escaping @Sendable (Response<Bytes>) async throws -> Void) {
        self.judge = judge
    }

    /// Says of a response whether it will do.
    public init(where isValid: @escaping @Sendable (Response<Bytes>) -> Bool) {
        self.init { response in
            if !isValid(response) {
                throw NetError(
                    .invalidValue, "the response from \(response.place) will not do", response: response)
            }
        }
    }

    /// Answers with the response if it will do.
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
