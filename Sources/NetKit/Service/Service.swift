/// A group of requests with a common base URL, fields, parameters and rules, in addition to those of the agent.
///
///     var configuration = Service.Configuration(baseURLs: [.develop: "http://localhost:8080", .release: "https://a.com"])
///     configuration.version = "v2"
///     configuration.signing = [MD5Signing(publicKey: "app", privateKey: secret)]
///     let cities = Service("cities", configuration)
///     var request = Request<[City]>("hot")
///     request.service = cities                    // https://a.com/v2/hot
///     cities.environment = .develop               // from now on http://localhost:8080/v2/hot
///
/// Services are independent of each other, and one can be used with many agents. Thread-safe.
public final class Service: Sendable {
    /// Its name, for messages and caches. Responses of a service with interceptors, signing, `judge` or
    /// `adjustParameters` are stored only for services with its name.
    public let name: String
    /// The common settings of its requests.
    public let configuration: Configuration
    private let current: Lock<Environment>
    let slots: Slots?

    /// Creates a service with this name.
    public init(_ name: String, _ configuration: Configuration = Configuration()) {
        self.name = name
        self.configuration = configuration
        current = Lock(configuration.environment)
        slots = configuration.maxInFlight.map { Slots($0, time: configuration.time) }
    }

    /// The current environment; a change applies to requests that are started later.
    public var environment: Environment {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// The number of calls that wait for a slot; 0 without ``Configuration/maxInFlight``.
    public var waitingCount: Int { slots?.waitingCount ?? 0 }
}

private enum ServiceNote: RequestNote {
    static let standard = Service?.none
}

extension Request {
    /// The service of the request; `nil` is none.
    public var service: Service? {
        get { hasNotes ? self[ServiceNote.self] : nil }
        set { self[ServiceNote.self] = newValue }
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
        return try versioned(url)
    }

    /// Returns the CDN's base URL, or `nil` without one.
    func cdnURL() throws(NetError) -> String? {
        guard let url = configuration.cdnURLs[environment].nonEmpty else { return nil }
        return try versioned(url)
    }

    private func versioned(_ url: String) throws(NetError) -> String {
        let version = configuration.version
        return version.isEmpty ? url : try joinURL(version, to: url, keepsBasePath: true)
    }

    /// Adds the service's options that the request does not set.
    func addNotes(to request: inout Request<Bytes>) {
        if !configuration.notes.isEmpty {
            request.content.rareParts.notes.merge(configuration.notes) { own, _ in own }
        }
    }

    /// Returns the error as replaced by the service.
    func mapped(_ error: NetError) -> NetError {
        guard let map = configuration.mapError, error.code != .cancelled, error.code != .stoppedByCaller else {
            return error
        }
        return map(error)
    }

    /// Whether the service changes calls, so that their responses must not be shared with other requests.
    var wrapsCalls: Bool {
        !configuration.interceptors.isEmpty || !stage.isEmpty || !configuration.signing.isEmpty
    }

    /// The interceptors behind all others and before signing.
    var stage: [any Interceptor] {
        let hasStage = configuration.adjustParameters != nil || configuration.judge != nil || slots != nil
        return hasStage ? [ServiceStage(service: self)] : []
    }
}
