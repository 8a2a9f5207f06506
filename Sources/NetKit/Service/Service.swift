/// A group of requests that have a place, fields, parameters and rules in common, beside the agent that sends them.
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
    /// Its name, for messages and people, and for caches: what is stored for a service that has interceptors, a signature,
    /// a judge or the last word on parameters is for services of its name alone.
    public let name: String
    /// What its requests have in common.
    public let configuration: Configuration
    private let current: Lock<Environment>
    let slots: Slots?

    /// A service of this name.
    public init(_ name: String, _ configuration: Configuration = Configuration()) {
        self.name = name
        self.configuration = configuration
        current = Lock(configuration.environment)
        slots = configuration.maxInFlight.map { Slots($0, time: configuration.time) }
    }

    /// Where it runs; a change holds for requests that are started from then on.
    public var environment: Environment {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// Calls that wait for one of its slots; 0 without ``Configuration/maxInFlight``.
    public var waitingCount: Int { slots?.waitingCount ?? 0 }
}

private enum ServiceNote: RequestNote {
    static let standard = Service?.none
}

extension Request {
    /// The service that it belongs to; nil is none.
    public var service: Service? {
        get { hasNotes ? self[ServiceNote.self] : nil }
        set { self[ServiceNote.self] = newValue }
    }
}

extension Service {
    /// The URL that a relative one begins at in the current environment; nil where the agent's is to be taken.
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

    /// The CDN's; nil where there is none.
    func cdnURL() throws(NetError) -> String? {
        guard let url = configuration.cdnURLs[environment].nonEmpty else { return nil }
        return try versioned(url)
    }

    private func versioned(_ url: String) throws(NetError) -> String {
        let version = configuration.version
        return version.isEmpty ? url : try joinURL(version, to: url, keepsBasePath: true)
    }

    /// Adds what its requests carry, where they say nothing themselves.
    func addNotes(to request: inout Request<Bytes>) {
        if !configuration.notes.isEmpty {
            request.content.rareParts.notes.merge(configuration.notes) { own, _ in own }
        }
    }

    /// An error in the service's own way.
    func mapped(_ error: NetError) -> NetError {
        guard let map = configuration.mapError, error.code != .cancelled, error.code != .stoppedByCaller else {
            return error
        }
        return map(error)
    }

    /// Whether its calls are not those of everybody who sends the same request.
    var wrapsCalls: Bool {
        !configuration.interceptors.isEmpty || !stage.isEmpty || !configuration.signing.isEmpty
    }

    /// What stands behind all interceptors, in front of its signing.
    var stage: [any Interceptor] {
        let hasStage = configuration.adjustParameters != nil || configuration.judge != nil || slots != nil
        return hasStage ? [ServiceStage(service: self)] : []
    }
}
