/// The origins that receive the additions of an agent or a service. They are the origins of a list of URLs.
struct TrustedOrigins: Sendable {
    private let urls: [String]

    init(_ urls: [String?]) {
        self.urls = urls.compactMap(\.nonEmpty)
    }

    func contains(_ url: String) -> Bool {
        if urls.contains(where: url.isSameOrigin) {
            return true
        }
        guard let origin = url.origin else { return false }
        return urls.contains { $0.origin == origin }
    }
}

/// The target of a request, before its parameters are added.
struct Destination: Sendable {
    /// The base URL. If `nil`, the URL is not joined to a base.
    var base: String?
    var withheldAdditions: WithheldAdditions = []
}

extension Agent {
    /// The fields of a request to a foreign origin.
    var crossOriginHeaders: Headers { defaultHeaders.safeCrossOrigin }

    /// Returns the target of a request, and whether agent and service withhold their additions from it.
    func destination(of request: Request<Bytes>) throws(NetError) -> Destination {
        var destination = Destination()
        if !request.isComplete {
            destination.base = try baseURL(of: request, of: request.service)
        }
        var whole = request.url
        if let base = destination.base, !(request.keepsDotSegments && request.content.hasAbsoluteURL) {
            whole = try joinURL(whole, to: base, keepsBasePath: configuration.keepsBasePath)
        }
        destination.withheldAdditions = withheldAdditions(of: request, at: whole)
        return destination
    }

    private func withheldAdditions(of request: Request<Bytes>, at url: String) -> WithheldAdditions {
        let service = request.service
        let requestOrigins = [request.baseURL, service?.baseURLOfEnvironment]
        let agentOrigins = [configuration.baseURL] + configuration.trustedOrigins
        guard
            ([configuration.baseURL] + requestOrigins).contains(where: { $0.nonEmpty != nil })
                || service?.configuration.baseURLs.isEmpty == false
        else { return [] }
        var withheldAdditions: WithheldAdditions = []
        if !TrustedOrigins(agentOrigins + requestOrigins).contains(url) {
            withheldAdditions.insert(.agent)
        }
        guard let service else { return withheldAdditions }
        // A service without base URLs uses the agent's.
        let shared = service.configuration.baseURLs.isEmpty ? agentOrigins : []
        if !TrustedOrigins(requestOrigins + service.configuration.trustedOrigins + shared).contains(url) {
            withheldAdditions.insert(.service)
        }
        return withheldAdditions
    }

    /// Records in the request whose additions are withheld. If the agent's are, also withholds its client certificate.
    func withhold(_ withheldAdditions: WithheldAdditions, from content: inout RequestContent) {
        content.setWithheldAdditions(withheldAdditions)
        if withheldAdditions.contains(.agent), content.optionalStorage?.value.trust == nil {
            var policy = callRunner.cacheContext.trust?.policy ?? configuration.trust
            if policy.identity != nil {
                policy.identity = nil
                content.optionalSettings.trust = policy
            }
        }
    }
}

extension Service {
    /// The base URL of the service in the current environment.
    fileprivate var baseURLOfEnvironment: String? { configuration.baseURLs[environment] }
}
