/// Who says what a request's parameters are, each time that it is started.
///
///     request.parameterSource = ParameterSource { _ in ["position": .init(await locator.position())] }
///     request.parameterSource = .delegate(form)
public struct ParameterSource: Sendable {
    /// Says the parameters; nil leaves those of the request. What it throws ends the start before anything is sent:
    /// a ``NetError`` as it is, anything else under ``NetError/Code/badParameter``.
    let ask: @Sendable (Request<Bytes>) async throws -> Parameters?

    /// A closure, which gets the request as it was asked.
    public init(_ ask: @escaping @Sendable (Request<Bytes>) async throws -> Parameters?) {
        self.ask = ask
    }

    /// An object that is not kept: when nobody else keeps it any more, the request's own parameters are sent.
    public static func delegate(_ delegate: some ParameterDelegate) -> ParameterSource {
        ParameterSource { [weak delegate] request in try await delegate?.parameters(for: request) }
    }
}

/// An object that says what a request's parameters are.
public protocol ParameterDelegate: AnyObject, Sendable {
    /// The parameters; nil leaves those of the request. Called on whatever task starts the request.
    func parameters(for request: Request<Bytes>) async throws -> Parameters?
}

private enum ParameterSourceNote: RequestNote {
    static let standard = ParameterSource?.none
}

private enum CacheKeyParametersNote: RequestNote {
    static let standard: (@Sendable (Parameters) -> Parameters)? = nil
}

extension Request {
    /// Asked for the parameters each time that the request is started; what it says takes the place of
    /// ``parameters``. Nil asks nobody.
    public var parameterSource: ParameterSource? {
        get { self[ParameterSourceNote.self] }
        set { self[ParameterSourceNote.self] = newValue }
    }

    /// Says which parameters the cache key is made of: those that change each time, such as a timestamp, can be left
    /// out. It gets all that are sent, the agent's and the service's among them. Nil takes them all.
    public var cacheKeyParameters: (@Sendable (Parameters) -> Parameters)? {
        get { self[CacheKeyParametersNote.self] }
        set { self[CacheKeyParametersNote.self] = newValue }
    }
}

extension NetError {
    /// What a closure of the caller's threw: its own ``NetError``, or an error under this code.
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
