/// A group of requests with a common base URL, fields, parameters and rules, in addition to those of the agent.
///
///     var configuration = Service.Configuration(baseURLs: [.develop: "http://localhost:8080", .release: "https://a.com"])
///     configuration.version = "v2"
///     configuration.headers = ["X-Client": "app"]
///     let cities = Service("cities", configuration)
///     var request = Request<[City]>("hot")
///     request.service = cities                    // https://a.com/v2/hot
///     cities.environment = .develop               // from now on http://localhost:8080/v2/hot
///
/// Services are independent of each other. A service can be used with many agents. Thread-safe.
public final class Service: Sendable {
    /// The name of the service, which appears in messages. It is also part of the cache key if the service has
    /// interceptors, signing, ``Configuration/judge`` or ``Configuration/adjustParameters``.
    public let name: String
    /// The common settings of the service's requests.
    public let configuration: Configuration
    private let current: Lock<Environment>
    let permits: PermitQueue?
    let json: JSONCodingStorage?

    /// Creates a service with this name.
    public init(_ name: String, _ configuration: Configuration = Configuration()) {
        self.name = name
        self.configuration = configuration
        current = Lock(configuration.environment)
        json = configuration.json.map { JSONCodingStorage($0) }
        permits = configuration.maxInFlight.map { PermitQueue($0, time: configuration.time) }
    }

    /// The current environment. A change applies to requests that are started later.
    public var environment: Environment {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// The number of calls that wait because ``Configuration/maxInFlight`` calls are in flight. 0 if there is no such
    /// limit.
    package var waitingCount: Int { permits?.waitingCount ?? 0 }
}

extension Request {
    /// The service of the request, or `nil` if it has none.
    public var service: Service? {
        get { callSettings?.value.service as? Service }
        set { settings.service = newValue }
    }
}

extension Service {
    /// Returns the base URL in the current environment, or `nil` to use the agent's.
    func baseURL(isNeeded: Bool) throws(NetError) -> String? {
        guard !configuration.baseURLs.isEmpty else { return nil }
        let environment = environment
        guard let url = configuration.baseURLs[environment].nonEmpty else {
            if isNeeded {
                throw NetError(.usage, "the service \(name) has no base URL for the environment \(environment)")
            }
            return nil
        }
        let version = configuration.version
        return version.isEmpty ? url : try joinURL(version, to: url, keepsBasePath: true)
    }

    /// Adds the service's options that the request does not set.
    func addOptions(to request: inout Request<Bytes>) {
        if !configuration.options.isEmpty {
            request.content.optionalSettings.options.fill(from: configuration.options)
        }
    }

    /// Returns the error after ``Configuration/mapError``.
    func mapped(_ error: NetError) -> NetError {
        guard let map = configuration.mapError, error.code != .cancelled, error.code != .stoppedByCaller else {
            return error
        }
        return map(error)
    }

    /// Whether the service can change requests or responses. If so, their responses must not be shared with requests
    /// outside the service.
    var wrapsCalls: Bool {
        !configuration.interceptors.isEmpty || !stage.isEmpty || !configuration.signing.isEmpty
    }

    /// The service's internal interceptors, which run after all others and before signing.
    var stage: [any Interceptor] {
        let hasStage = configuration.adjustParameters != nil || configuration.judge != nil || permits != nil
        return hasStage ? [ServiceStage(service: self)] : []
    }
}

/// Applies the service's ``Service/Configuration/adjustParameters``, ``Service/Configuration/maxInFlight`` and
/// ``Service/Configuration/judge`` to each transfer.
private struct ServiceStage: PromptInterceptor {
    let service: Service

    var isPrompt: Bool { service.configuration.adjustParameters == nil && service.configuration.judge == nil }

    func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        var call = call
        if let adjust = service.configuration.adjustParameters, !call.request.withheldAdditions.contains(.service) {
            let request = call.request
            try await call.setSentParameters { (parameters) async throws(NetError) -> Parameters? in
                do {
                    return try await adjust(parameters, request)
                } catch {
                    throw NetError(wrapping: error, .badParameter, "the parameters could not be adjusted")
                }
            }
        }
        guard let permits = service.permits else { return try await checked(try await next(call)) }
        let permit = try await permits.take(for: call.request, within: call.budget)
        let answer = try await checked(try await next(call))
        if case .stream(let stream) = answer.body {
            return ChainResponse(stream.replaced(by: HeldChunks(stream, permit: permit)))
        }
        permit.giveBack()
        return answer
    }

    private func checked(_ answer: ChainResponse) async throws(NetError) -> ChainResponse {
        guard let judge = service.configuration.judge, case .bytes = answer.body else { return answer }
        do {
            try await judge(answer.response)
            return answer
        } catch {
            throw NetError(
                wrapping: error, .invalidValue, "the service \(service.name) rejected the response",
                response: answer.response)
        }
    }
}

/// A streamed body that holds a permit of the service until the body has ended.
private final class HeldChunks: ChunkSource {
    private let stream: ResponseStream
    private let permit: ConcurrencyPermit

    init(_ stream: ResponseStream, permit: ConcurrencyPermit) {
        self.stream = stream
        self.permit = permit
    }

    func next() async throws(NetError) -> Bytes? {
        do throws(NetError) {
            let piece = try await stream.source.next()
            if piece == nil {
                permit.giveBack()
            }
            return piece
        } catch {
            permit.giveBack()
            throw error
        }
    }

    func abandon(isSuperseded: Bool) {
        stream.source.abandon(isSuperseded: isSuperseded)
        permit.giveBack()
    }

    func beginReading() -> Bool { stream.source.beginReading() }

    var ending: Response<Bytes>? { stream.source.ending }
}
