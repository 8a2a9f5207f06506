extension Caching {
    /// Returns true if a request is sent without credentials, so that its response can be shared by all users. Most
    /// requests are, and then no hash is needed.
    ///
    /// - Parameter name: the scope of the policy. If it is not `nil`, it decides: an empty scope is shared.
    func hasNoCredentials(_ request: Request<Bytes>, named name: String?, _ context: CacheContext) -> Bool {
        if let name {
            return name.isEmpty
        }
        return request.effectiveCredentials == nil && !request.getsCookies(context)
            && !request.headers.hasAny(credentialNames)
            && !hasSecrets(request.headers) && !request.url.hasUserinfo && request.identityFields.isEmpty
            && request.wrappingService == nil
            && !context.sendsHiddenCredentials(request)
    }

    /// Returns a hash of the user that a request's responses belong to; empty for shared ones.
    ///
    /// - Parameters:
    ///   - name: the scope of the policy. If `nil`, users are distinguished by their credentials.
    ///   - cookies: the cookies that are sent with the request. If `nil`, cookies are not part of the hash.
    func scope(
        of request: Request<Bytes>, named name: String?, _ context: CacheContext, cookies: [[UInt8]]?
    ) async throws(NetError) -> String {
        if let name {
            return name.isEmpty ? "" : Bytes(try await secret.hash(["scope", name])).hexText
        }
        let sent = sentCredentials(of: request) + (try await context.hiddenCredentials(of: request))
        var parts = sent.map { Array($0.utf8) }
        if let cookies, !cookies.isEmpty {
            parts += [Array("cookies".utf8)] + cookies
        }
        return try await scope(parts, by: request.wrappingService)
    }

    private func hasSecrets(_ headers: Headers) -> Bool {
        headers.contains { !$0.name.isNegotiating && secrets.contains($0.name) }
    }

    /// Returns the credentials of a request without its cookies: its own credentials, and the fields with secret names.
    func sentCredentials(of request: Request<Bytes>) -> [String] {
        var sent = request.sentCredentials
        for field in request.headers where !field.name.isNegotiating && !field.isOne(of: credentialNames) {
            if secrets.contains(field.name) {
                sent += [field.name.lowercased(), field.content.byteScalars]
            }
        }
        return sent
    }

    /// Returns the scope of requests to the same service without credentials.
    func anonymousScope(in request: Request<Bytes>) async throws(NetError) -> String {
        try await scope([], by: request.wrappingService)
    }

    /// Returns the scope for these credentials at a service; empty for shared responses.
    private func scope(_ sent: [[UInt8]], by service: String?) async throws(NetError) -> String {
        if let service {
            return Bytes(try await secret.hash(["service", service].map { Array($0.utf8) } + sent)).hexText
        }
        return sent.isEmpty ? "" : Bytes(try await secret.hash([Array("shown".utf8)] + sent)).hexText
    }

    /// Returns a hash of the cookies that a request is sent with; empty without cookies.
    func owner(of request: Request<Bytes>, _ context: CacheContext) async throws(NetError) -> [UInt8] {
        let cookies = try request.cookies(from: try context.cookieSnapshot(for: request))
        return cookies.isEmpty ? [] : try await secret.hash([Array("cookies".utf8)] + cookies)
    }

    /// Returns a hash of the cookies that these hosts may receive; empty without cookies.
    func owner(of jar: (any CookieSnapshot)?, at hosts: [String]) async throws(NetError) -> [UInt8] {
        let cookies = try jar?.shown(to: Set(hosts)) ?? []
        return cookies.isEmpty ? [] : try await secret.hash([Array("redirected".utf8)] + cookies)
    }
}

extension CacheContext {
    /// Returns the current jar, or `nil` if the request gets no cookies from one.
    func cookieSnapshot(for request: Request<Bytes>) throws(NetError) -> (any CookieSnapshot)? {
        guard let jar, request.cookiePolicy.sends else { return nil }
        return try jar.cookieSnapshot()
    }
}

private let credentialNames = ["Authorization", "Cookie"]

extension Request {
    /// The lower-case names of further fields that identify the user, besides Authorization and Cookie.
    var identityFields: [String] { callSettings?.value.identityFields ?? [] }

    /// Returns the request with a mark for each field that `other` does not have: the marked fields identify the user.
    func markingIdentity(comparedTo other: Request) -> Request {
        let known = other.headers.list
        let added = headers.list.filter { !known.contains($0) && !$0.isOne(of: credentialNames) }
        if added.isEmpty {
            return self
        }
        var request = self
        request.settings.identityFields = Set(identityFields + added.map { $0.name.lowercased() }).sorted()
        return request
    }

    /// The name of the request's service, if the service changes calls behind the cache; otherwise `nil`.
    fileprivate var wrappingService: String? {
        guard hasOptions, let service, service.wrapsCalls else { return nil }
        return service.name
    }
}

extension Request {
    /// Returns the cookies that are sent with the request: those of its Cookie field and those of the jar, as bytes.
    ///
    /// Throws for a URL without a valid host, because its cookies cannot be determined.
    func cookies(from jar: (any CookieSnapshot)?) throws(NetError) -> [[UInt8]] {
        let own = headers.only(["Cookie"]).map(\.content.bytes)
        guard let jar else { return own }
        // libcurl may select cookies by a custom Host field instead of the host of the URL.
        let urls = [url] + headers.values(named: "Host").map { "http://\($0)" }
        return own + (try jar.shown(to: try Self.hosts(of: urls)))
    }

    fileprivate static func hosts(of urls: [String]) throws(NetError) -> Set<String> {
        var hosts: Set<String> = []
        for url in urls {
            guard let host = url.canonicalURLHost else {
                throw NetError(.badURL, "the URL has no valid host: \(url.displayedLocation)")
            }
            hosts.insert(host)
        }
        return hosts
    }

    /// Returns the hosts of all hops if redirects led to another host than the request's, otherwise an empty array.
    /// Returns `nil` if a host is unknown.
    func hosts(ofRedirectsIn metrics: Metrics) -> [String]? {
        guard metrics.count > 1, let hosts = try? Self.hosts(of: [url] + metrics.map(\.url)) else {
            return metrics.count > 1 ? nil : []
        }
        return hosts.count > 1 ? hosts.sorted() : []
    }

    /// Returns true if cookies of the agent's jar may be sent with the request.
    fileprivate func getsCookies(_ context: CacheContext) -> Bool { context.jar != nil && cookiePolicy.sends }

    /// The request's own credentials, without cookies and without the fields that have secret names.
    fileprivate var sentCredentials: [String] {
        var sent = headers.byteScalars(named: "Authorization")
        for name in identityFields {
            sent += [name] + headers.byteScalars(named: name)
        }
        if let credentials = effectiveCredentials {
            sent += [credentials.user, credentials.password, credentials.token]
        }
        if url.hasUserinfo {
            sent.append(url)
        }
        return sent
    }
}

extension String {
    /// The canonical host of an absolute URL; empty if it has none.
    var hostName: String { canonicalURLHost ?? "" }
}

/// The names of fields that select a representation and do not identify the user.
private let negotiatingNames: Set = [
    "accept", "accept-charset", "accept-encoding", "accept-language", "content-encoding", "content-type", "origin",
    "user-agent",
]

extension String {
    /// Whether a field with this name selects a representation and does not identify the user.
    var isNegotiating: Bool { negotiatingNames.contains(lowercased()) }
}

extension Caching {
    /// Returns the fields as they appear in the cache key. Values that may be secret or may identify the user are
    /// replaced by a hash, because a key is stored with its response and appears in listings.
    func hashedKeyFields(_ fields: some Sequence<Headers.Field>) async throws(NetError) -> [Headers.Field] {
        var hashed: [Headers.Field] = []
        for var field in fields {
            let name = field.name.lowercased()
            if !name.isNegotiating {
                field.value = Bytes(try await secret.hash(["field", name, field.content.byteScalars])).hexText
            }
            hashed.append(field)
        }
        return hashed
    }
}
