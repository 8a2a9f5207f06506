public import NetKit

/// Replaces the parameters of requests.
///
///     request.interceptors = [ReformParameters { parameters, _ in ["payload": encrypted(parameters)] }]
///
/// The closure receives the request's own parameters, or `nil` if there are none. Its result is sent instead, together
/// with the parameters that agent and service add.
public struct ReformParameters: OriginBoundInterceptor {
    private let reform: @Sendable (Parameters?, Request<Bytes>) async throws -> Parameters?

    /// Creates an interceptor. If the closure throws, the call ends with that error. An error that is not a
    /// `NetError` becomes `NetError.Code.badParameter`.
    public init(_ reform: @escaping @Sendable (Parameters?, Request<Bytes>) async throws -> Parameters?) {
        self.reform = reform
    }

    /// Continues with the call and its new parameters.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        var call = call
        let reformed: Parameters?
        do {
            reformed = try await reform(call.parameters, call.request)
        } catch {
            throw NetError(wrapping: error, .badParameter, "the parameters could not be transformed")
        }
        try call.setParameters(reformed)
        return try await next(call)
    }
}

/// Replaces responses before their status, type and body are checked.
///
///     configuration.interceptors = [ReformResponse { response in
///         var response = response
///         response.bytes = try decrypted(response.bytes)
///         return response
///     }]
///
/// Responses whose body is streamed or saved are not changed. If the request expects a JSON shape, the original body
/// and the new body must both have it.
public struct ReformResponse: Interceptor {
    private let reform: @Sendable (Result<Response<Bytes>, NetError>, Request<Bytes>) async throws -> Response<Bytes>

    /// Creates an interceptor that receives each response, with any status.
    ///
    /// If the closure throws, the call ends with that error. An error that is not a `NetError` becomes
    /// `NetError.Code.invalidValue`.
    public init(_ reform: @escaping @Sendable (Response<Bytes>) async throws -> Response<Bytes>) {
        self.init(outcome: { outcome, _ in try await reform(try outcome.get()) })
    }

    /// Creates an interceptor that receives each outcome, including failures. It can replace a failure by a response or
    /// by another failure.
    ///
    /// If the closure throws, the call ends with that error. An error that is not a `NetError` becomes
    /// `NetError.Code.invalidValue`.
    public init(
        outcome reform:
            @escaping @Sendable (Result<Response<Bytes>, NetError>, Request<Bytes>) async throws -> Response<Bytes>
    ) {
        self.reform = reform
    }

    /// Continues with the call and returns the replaced response.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        let outcome: Result<Response<Bytes>, NetError>
        do throws(NetError) {
            let chainResponse = try await next(call)
            guard case .bytes = chainResponse.body else { return chainResponse }
            outcome = .success(chainResponse.response)
        } catch {
            outcome = .failure(error)
        }
        do {
            var response = try await reform(outcome, call.request)
            response.value = response.bytes
            return ChainResponse(response)
        } catch {
            let received = try? outcome.get()
            throw NetError(wrapping: error, .invalidValue, "the response could not be transformed", response: received)
        }
    }
}
