/// The origins that receive the additions of an agent or a service: those of these URLs.
struct TrustedOrigins: Sendable {
    private let urls: [String]

    init(_ urls: [String?]) {
        self.urls = urls.compactMap(\.nonEmpty)
    }

    func contains(_ url: String) -> Bool {
        // The fast path: nearly every URL begins with its base.
        if urls.contains(where: { url.beginsAtAuthority(of: $0) }) {
            return true
        }
        guard let origin = url.origin else { return false }
        return urls.contains { $0.origin == origin }
    }
}

extension String {
    /// Returns true if scheme and authority equal those of `base`, byte by byte.
    fileprivate func beginsAtAuthority(of base: String) -> Bool {
        let (own, base) = (utf8.span, base.utf8.span)
        var index = 0
        var slashes = 0
        while index < base.count {
            let byte = base[index]
            let isSlash = byte == UInt8(ascii: "/")
            // Two slashes come before the authority.
            if byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") || (isSlash && slashes == 2) {
                break
            }
            guard index < own.count, own[index] == byte else { return false }
            slashes += isSlash ? 1 : 0
            index += 1
        }
        let ends = index == own.count || [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains(own[index])
        return slashes == 2 && ends
    }
}

/// The target of a request, before its parameters are in place.
struct Destination: Sendable {
    /// `nil` keeps the URL unchanged.
    var base: String?
    /// The result of the URL filters.
    var url: String
    var isFiltered = false
    var outsiders: Outsiders = []
}

extension Agent {
    /// The fields of a request to a foreign origin.
    var elsewhereHeaders: Headers { defaultHeaders.safeElsewhere }

    /// Returns the target of a request, and whether agent and service add nothing to it.
    func destination(of request: Request<Bytes>) throws(NetError) -> Destination {
        var destination = Destination(url: request.url)
        if !request.isComplete {
            destination.base = try baseURL(of: request, of: request.service)
            try filter(&destination, of: request)
        }
        var whole = destination.url
        if let base = destination.base, !(request.keepsDotSegments && request.content.hasAbsoluteURL) {
            whole = try joinURL(whole, to: base, keepsBasePath: configuration.keepsBasePath)
        }
        destination.outsiders = outsiders(of: request, at: whole)
        return destination
    }

    private func filter(_ destination: inout Destination, of request: Request<Bytes>) throws(NetError) {
        guard !request.isPlaced else { return }
        let isAbsolute = request.content.hasAbsoluteURL
        for filter in configuration.urlFilters where filter.filtersAbsoluteURLs || !isAbsolute {
            destination.url = try filter.filtered(destination.url, of: request)
            destination.isFiltered = true
        }
    }

    private func outsiders(of request: Request<Bytes>, at url: String) -> Outsiders {
        let service = request.service
        let (named, servicePlaces) = ([request.baseURL, request.cdnURL], service?.places ?? [])
        let agentPlaces = [configuration.baseURL, configuration.cdnURL] + configuration.trustedOrigins
        guard
            ([configuration.baseURL, request.baseURL] + servicePlaces).contains(where: { $0.nonEmpty != nil })
                || (request.usesCDN && (named + agentPlaces).contains { $0.nonEmpty != nil })
                || service?.configuration.baseURLs.isEmpty == false
        else { return [] }
        var outsiders: Outsiders = []
        if !TrustedOrigins(agentPlaces + named + servicePlaces).contains(url) {
            outsiders.insert(.agent)
        }
        guard let service else { return outsiders }
        // A service without a base uses the agent's.
        let shared = service.configuration.baseURLs.isEmpty ? agentPlaces : [configuration.cdnURL]
        if !TrustedOrigins(servicePlaces + service.configuration.trustedOrigins + named + shared).contains(url) {
            outsiders.insert(.service)
        }
        return outsiders
    }

    /// Records which of them add nothing, and removes the agent's client certificate for a foreign origin.
    func withhold(_ outsiders: Outsiders, from content: inout RequestContent) {
        content.setOutsiders(outsiders)
        if outsiders.contains(.agent), content.rare?.value.trust == nil {
            var policy = exchange.cacheContext.trust?.policy ?? configuration.trust
            if policy.identity != nil {
                policy.identity = nil
                content.rareParts.trust = policy
            }
        }
    }
}

extension Service {
    /// The base URLs of its requests in the current environment.
    fileprivate var places: [String?] {
        let environment = environment
        return [configuration.baseURLs[environment], configuration.cdnURLs[environment]]
    }
}
