/// Judges a request's parameters before anything is sent: those that will not do end the call with
/// ``NetError/Code/invalidParameters``.
///
///     configuration.interceptors = [
///         ReformParameters { parameters, _ in … },
///         ValidateParameters { parameters, _ in
///             if parameters?["name"] == nil { throw Missing.name }
///         },
///     ]
///
/// It sees the request's own parameters, as the interceptors in front of it left them. What it throws is the error's
/// ``NetError/underlying``, unless it is a ``NetError``, which is thrown as it is.
public struct ValidateParameters: Interceptor {
    private let judge: @Sendable (Parameters?, Request<Bytes>) async throws -> Void

    /// Throws for parameters that will not do.
    public init(_ judge: @escaping @Sendable (Parameters?, Request<Bytes>) async throws -> Void) {
        self.judge = judge
    }

    /// Says of parameters whether they will do.
    public init(where isValid: @escaping @Sendable (Parameters?) -> Bool) {
        self.init { parameters, request in
            if !isValid(parameters) {
                throw NetError(
                    .invalidParameters, "the parameters of \(request.method) \(request.url.shownPlace) will not do")
            }
        }
    }

    /// Lets the call go on if its parameters will do.
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
