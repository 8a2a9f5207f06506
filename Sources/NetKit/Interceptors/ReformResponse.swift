/// Replaces responses before their status, type and body are checked.
///
///     configuration.interceptors = [ReformResponse { response in
///         var response = response
///         response.bytes = try decrypted(response.bytes)
///         return response
///     }]
///
/// Streamed and saved bodies are not changed. An expected JSON shape is checked on the original body, and again on the
/// new one.
public struct ReformResponse: Interceptor {
    private let reform: @Sendable (Result<Response<Bytes>, NetError>, Request<Bytes>) async throws -> Response<Bytes>

    /// Creates an interceptor that receives each response, with any status.
    ///
    /// An error thrown here ends the call: a ``NetError`` unchanged, any other error as ``NetError/Code/invalidValue``.
    public init(_ reform: @escaping @Sendable (Response<Bytes>) async throws -> Response<Bytes>) {
        self.init(outcome: { outcome, _ in try await reform(try outcome.get()) })
    }

    /// Creates an interceptor that receives each outcome, including failures. It may turn a failure into a response or
    /// another failure.
    ///
    /// An error thrown here ends the call: a ``NetError`` unchanged, any other error as ``NetError/Code/invalidValue``.
    public init(
        outcome reform:
            @escaping @Sendable (Result<Response<Bytes>, NetError>, Request<Bytes>) async throws -> Response<Bytes>
    ) {
        self.reform = reform
    }

    /// Returns the replaced response.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        let outcome: Result<Response<Bytes>, NetError>
        do throws(NetError) {
            let answer = try await next(call)
            guard case .bytes = answer.body else { return answer }
            outcome = .success(answer.response)
        } catch {
            outcome = .failure(error)
        }
        do {
            var response = try await reform(outcome, call.request)
            response.value = response.bytes
            return Answer(response)
        } catch {
            let received = try? outcome.get()
            throw NetError(asking: error, .invalidValue, "the response could not be reformed", response: received)
        }
    }
}
