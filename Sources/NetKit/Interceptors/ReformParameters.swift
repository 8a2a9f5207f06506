/// Sends other parameters than those that the request brings.
///
///     request.interceptors = [ReformParameters { parameters, _ in ["payload": encrypted(parameters)] }]
///
/// It gets the request's own parameters, nil when there are none; what it returns is sent in their place, together with
/// those that belong to every request.
public struct ReformParameters: OriginBoundInterceptor {
    private let reform: @Sendable (Parameters?, Request<Bytes>) async throws -> Parameters?

    /// What it throws ends the call: a ``NetError`` as it is, anything else under ``NetError/Code/badParameter``.
    public init(_ reform: @escaping @Sendable (Parameters?, Request<Bytes>) async throws -> Parameters?) {
        self.reform = reform
    }

    /// Lets the call go on with the new parameters.
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
