/// Makes another response of what came back, before its status, its type and its body are judged.
///
///     configuration.interceptors = [ReformResponse { response in
///         var response = response
///         response.bytes = try decrypted(response.bytes)
///         return response
///     }]
///
/// Bodies that are streamed or saved pass as they are. A shape that the request expects was checked on what came, and
/// is checked once more on what was made of it.
public struct ReformResponse: Interceptor {
    private let reform: @Sendable (Result<Response<Bytes>, NetError>, Request<Bytes>) async throws -> Response<Bytes>

    /// Gets each response, whatever its status.
    ///
    /// What it throws ends the call: a ``NetError`` as it is, anything else under ``NetError/Code/invalidValue``.
    public init(_ reform: @escaping @Sendable (Response<Bytes>) async throws -> Response<Bytes>) {
        self.init(outcome: { outcome, _ in try await reform(try outcome.get()) })
    }

    /// Gets each outcome: a failure too, of which it may make a response or another failure.
    ///
    /// What it throws ends the call: a ``NetError`` as it is, anything else under ``NetError/Code/invalidValue``.
    public init(
        outcome reform:
            @escaping @Sendable (Result<Response<Bytes>, NetError>, Request<Bytes>) async throws -> Response<Bytes>
    ) {
        self.reform = reform
    }

    /// Answers with what was made of the response.
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
