/// Computes a request's parameters each time the request is started.
///
///     request.parameterSource = ParameterSource { _ in ["position": .init(await locator.position())] }
///     request.parameterSource = .delegate(form)
public struct ParameterSource: Sendable {
    /// Returns the parameters, or `nil` to keep those of the request. An error thrown here ends the call before
    /// anything is sent: a ``NetError`` unchanged, any other error as ``NetError/Code/badParameter``.
    let ask: @Sendable (Request<Bytes>) async throws -> Parameters?

    /// Creates a source from a closure, which receives the original request.
    public init(_ ask: @escaping @Sendable (Request<Bytes>) async throws -> Parameters?) {
        self.ask = ask
    }

    /// Creates a source from an object, kept weakly. After its deallocation the request's own parameters are sent.
    public static func delegate(_ delegate: some ParameterDelegate) -> ParameterSource {
        ParameterSource { [weak delegate] request in try await delegate?.parameters(for: request) }
    }
}

/// An object that computes a request's parameters.
public protocol ParameterDelegate: AnyObject, Sendable {
    /// Returns the parameters, or `nil` to keep those of the request. Called on the task that starts the request.
    func parameters(for request: Request<Bytes>) async throws -> Parameters?
}

private enum ParameterSourceNote: RequestNote {
    static let standard = ParameterSource?.none
}

private enum CacheKeyParametersNote: RequestNote {
    static let standard: (@Sendable (Parameters) -> Parameters)? = nil
}

extension Request {
    /// Computes the parameters each time the request is started. Its result replaces ``parameters``. If `nil`,
    /// ``parameters`` apply.
    public var parameterSource: ParameterSource? {
        get { self[ParameterSourceNote.self] }
        set { self[ParameterSourceNote.self] = newValue }
    }

    /// Selects the parameters of the cache key, for example to leave out a timestamp. It receives all parameters that
    /// are sent, including those of the agent and the service. If `nil`, all of them are used.
    public var cacheKeyParameters: (@Sendable (Parameters) -> Parameters)? {
        get { self[CacheKeyParametersNote.self] }
        set { self[CacheKeyParametersNote.self] = newValue }
    }
}

extension NetError {
    /// Creates the error for an error of the caller's closure: its own ``NetError``, or an error with this code.
    init(asking error: any Error, _ code: Code, _ what: String, response: Response<Bytes>? = nil) {
        if let error = error as? NetError {
            self = error
        } else if error is CancellationError {
            self.init(.cancelled, "the task was cancelled", underlying: error)
        } else {
            self.init(code, "\(what): \(error)", response: response, underlying: error)
        }
    }
}
