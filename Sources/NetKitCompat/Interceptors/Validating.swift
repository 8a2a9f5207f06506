public import NetKit

/// Checks a request's parameters before the request is sent. If they are invalid, the call ends with
/// `NetError.Code.invalidParameters`.
///
///     configuration.interceptors = [
///         ReformParameters { parameters, _ in … },
///         ValidateParameters { parameters, _ in
///             if parameters?["name"] == nil { throw Missing.name }
///         },
///     ]
///
/// The closure receives the request's own parameters, as the interceptors before this one have changed them. If it
/// throws a `NetError`, the call ends with that error. Any other error becomes the `NetError.underlying` error.
public struct ValidateParameters: Interceptor {
    private let check: @Sendable (Parameters?, Request<Bytes>) async throws -> Void

    /// Creates a check from a closure that throws for invalid parameters.
    public init(_ check: @escaping @Sendable (Parameters?, Request<Bytes>) async throws -> Void) {
        self.check = check
    }

    /// Creates a check from a closure that returns whether parameters are valid.
    public init(where isValid: @escaping @Sendable (Parameters?) -> Bool) {
        self.init { parameters, request in
            if !isValid(parameters) {
                throw NetError(
                    .invalidParameters,
                    "the parameters of \(request.method) \(request.url.locationForMessages) are invalid")
            }
        }
    }

    /// Continues with the call if its parameters are valid.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        do {
            try await check(call.parameters, call.request)
        } catch {
            throw NetError(
                wrapping: error, .invalidParameters,
                "the parameters of \(call.request.method) \(call.request.url.locationForMessages) are invalid")
        }
        return try await next(call)
    }
}

extension String {
    /// The URL without query, name and password, for messages: these may contain secrets.
    var locationForMessages: String {
        let hidden = Redaction().hiding(url: self).unicodeScalars
        return String(String.UnicodeScalarView(hidden.prefix { $0 != "?" && $0 != "#" }))
    }
}

/// Checks an accepted response before its body is decoded. If it is invalid, the call ends with
/// `NetError.Code.invalidValue`, and the error contains the response.
///
///     configuration.interceptors = [ValidateResponse { response in
///         if response.headers["X-Result"] == "failed" { throw Refusal() }
///     }]
///
/// To check the response that a ``ReformResponse`` returns, place this interceptor before it. Responses with a status
/// that the request does not accept, and responses whose body is streamed or saved, are not checked.
public struct ValidateResponse: Interceptor {
    private let check: @Sendable (Response<Bytes>) async throws -> Void

    /// Creates a check from a closure that throws for an invalid response.
    ///
    /// If it throws a `NetError`, the call ends with that error. Any other error becomes the `NetError.underlying`
    /// error.
    public init(_ check: @escaping @Sendable (Response<Bytes>) async throws -> Void) {
        self.check = check
    }

    /// Creates a check from a closure that returns whether a response is valid.
    public init(where isValid: @escaping @Sendable (Response<Bytes>) -> Bool) {
        self.init { response in
            if !isValid(response) {
                throw NetError(
                    .invalidValue, "the response from \(response.url.locationForMessages) is invalid",
                    response: response)
            }
        }
    }

    /// Continues with the call, and returns the response if it is valid.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        let chainResponse = try await next(call)
        guard case .bytes = chainResponse.body, call.request.acceptedStatuses.contains(chainResponse.status)
        else {
            return chainResponse
        }
        do {
            try await check(chainResponse.response)
            return chainResponse
        } catch {
            let response = chainResponse.response
            throw NetError(
                wrapping: error, .invalidValue, "the response from \(response.url.locationForMessages) is invalid",
                response: response)
        }
    }
}
