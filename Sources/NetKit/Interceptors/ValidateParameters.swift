/// Checks a request's parameters before anything is sent. Invalid ones end the call with
/// ``NetError/Code/invalidParameters``.
///
///     configuration.interceptors = [
///         ReformParameters { parameters, _ in … },
///         ValidateParameters { parameters, _ in
///             if parameters?["name"] == nil { throw Missing.name }
///         },
///     ]
///
/// It receives the request's own parameters, as changed by the interceptors before it. A thrown ``NetError`` ends the
/// call unchanged; any other error becomes ``NetError/underlying``.
public struct ValidateParameters: Interceptor {
    private let judge: @Sendable (Parameters?, Request<Bytes>) async throws -> Void

    /// Creates a check from a closure that throws for invalid parameters.
    public init(_ judge: @escaping @Sendable (Parameters?, Request<Bytes>) async throws -> Void) {
        self.judge = judge
    }

    /// Creates a check from a closure that returns whether parameters are valid.
    public init(where isValid: @escaping @Sendable (Parameters?) -> Bool) {
        self.init { parameters, request in
            if !isValid(parameters) {
                throw NetError(
                    .invalidParameters, "the parameters of \(request.method) \(request.url.shownPlace) will not do")
            }
        }
    }

    /// Continues with the call if its parameters are valid.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        do {
            try await judge(call.parameters, call.request)
        } catch {
            throw NetError(
                asking: error, .invalidParameters,
                "the parameters of \(call.request.method) \(call.request.url.shownPlace) will not do")
        }
        return try await next(call)
    }
}
