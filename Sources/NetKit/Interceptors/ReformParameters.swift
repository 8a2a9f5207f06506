/// Replaces the parameters of requests.
///
///     request.interceptors = [ReformParameters { parameters, _ in ["payload": encrypted(parameters)] }]
///
/// The closure receives the request's own parameters, or `nil` if there are none. Its result is sent instead, together
/// with the parameters for every request.
public struct ReformParameters: OriginBoundInterceptor {
    private let reform: @Sendable (Parameters?, Request<Bytes>) async throws -> Parameters?

    /// Creates an interceptor. An error thrown by the closure ends the call: a ``NetError`` unchanged, any other error
    /// as ``NetError/Code/badParameter``.
    public init(_ reform: @escaping @Sendable (Parameters?, Request<Bytes>) async throws -> Parameters?) {
        self.reform = reform
    }

    /// Continues with the new parameters.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        var call = call
        let reformed: Parameters?
        do {
            reformed = try await reform(call.parameters, call.request)
        } catch {
            throw NetError(asking: error, .badParameter, "the parameters could not be reformed")
        }
        try call.setParameters(reformed)
        return try await next(call)
    }
}
