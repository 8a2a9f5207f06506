extension Caching {
    /// Whether a request shows nothing of who asks, so that anybody may have its answer. Most are like that, and then
    /// there is nothing to hash, nor to wait for.
    func isAnybodys(_ request: Request<Bytes>, named name: String?, _ context: CacheContext) -> Bool {
        if let name {
            return name.isEmpty
        }
        return request.credentials == nil && !request.getsCookies(context) && !request.headers.hasAny(shownNames)
            && !hasSecrets(request.headers) && !request.url.hasUserinfo && request.identityFields.isEmpty
            && request.wrappingService == nil
            && !context.showsUnseen(request)
    }

    /// Whose answers a request gets, as a hash; empty for anybody's.
    ///
    /// - Parameters:
    ///   - name: what the policy says; nil tells users apart by what they show.
    ///   - cookies: those that it is sent with; nil leaves them out.
    func scope(
        of request: Request<Bytes>, named name: String?, _ context: CacheContext, cookies: [[UInt8]]?
    ) async throws(NetError) -> String {
        if let name {
            return name.isEmpty ? "" : Bytes(try await secret.hash(["scope", name])).hexText
        }
        let shown = shownCredentials(of: request) + (try await context.unseenCredentials(of: request))
        var parts = shown.map { Array($0.utf8) }
        if let cookies, !cookies.isEmpty {
            parts += [Array("cookies".utf8)] + cookies
        }
        return try await scope(parts, by: request.wrappingService)
    }

    private func hasSecrets(_ headers: Headers) -> Bool {
        headers.contains { !$0.name.isNegotiating && secrets.contains($0.name) }
    }

    /// What tells who asks, cookies aside: what the request shows, and the fields whose names stand for secrets.
    func shownCredentials(of request: Request<Bytes>) -> [String] {
        var shown = request.shownCredentials
        for field in request.headers where !field.name.isNegotiating && !field.isOne(of: shownNames) {
            if secrets.contains(field.name) {
                shown += [field.name.lowercased(), field.content.byteScalars]
            }
        }
        return shown
    }

    /// That of those who show nothing to the request's service.
    func scopeOfNobody(in request: Request<Bytes>) async throws(NetError) -> String {
        try await scope([], by: request.wrappingService)
    }

    /// Whose answers those are that show this, by a service; empty for anybody's.
    private func scope(_ shown: [[UInt8]], by service: String?) async throws(NetError) -> String {
        if let service {
            return Bytes(try await secret.hash(["service", service].map { Array($0.utf8) } + shown)).hexText
        }
        return shown.isEmpty ? "" : Bytes(try await secret.hash([Array("shown".utf8)] + shown)).hexText
    }

    /// Whose cookies a request is sent with, as a hash; empty without any.
    func owner(of request: Request<Bytes>, _ context: CacheContext) async throws(NetError) -> [UInt8] {
        let cookies = try request.cookies(from: try context.jarCookies(for: request))
        return cookies.isEmpty ? [] : try await secret.hash([Array("cookies".utf8)] + cookies)
    }

    /// Whose cookies these hosts may get, as a hash; empty without any.
    func owner(of jar: (any JarCookies)?, at hosts: [String]) async throws(NetError) -> [UInt8] {
        let cookies = try jar?.shown(to: Set(hosts)) ?? []
        return cookies.isEmpty ? [] : try await secret.hash([Array("redirected".utf8)] + cookies)
    }
}

extension CacheContext {
    /// The jar as it is now; nil where a request gets no cookies from one.
    func jarCookies(for request: Request<Bytes>) throws(NetError) -> (any JarCookies)? {
        guard let jar, request.cookieUse.sends else { return nil }
        return try jar.jarCookies()
    }
}

private let shownNames = ["Authorization", "Cookie"]

private enum IdentityFieldsNote: RequestNote {
    static let standard: [String] = []
}

extension Request {
    /// Names of fields that say who asks, beside Authorization and Cookie; in lower case.
    var identityFields: [String] { hasNotes ? self[IdentityFieldsNote.self] : [] }

    /// The request, which says who asks by whatever fields it has more than another.
    func tellingIdentity(beside other: Request) -> Request {
        let known = other.headers.list
        let added = headers.list.filter { !known.contains($0) && !$0.isOne(of: shownNames) }
        if added.isEmpty {
            return self
        }
        var request = self
        request[IdentityFieldsNote.self] = Set(identityFields + added.map { $0.name.lowercased() }).sorted()
        return request
    }

    /// The name of a service that does to its calls what nobody in front of it sees; nil without one.
    fileprivate var wrappingService: String? {
        guard hasNotes, let service, service.wrapsCalls else { return nil }
        return service.name
    }
}

extension Request {
    /// The cookies that it is sent with, of its own and of a jar, in bytes.
    ///
    /// Throws for a URL without a host that can be: nobody knows which cookies it gets.
    func cookies(from jar: (any JarCookies)?) throws(NetError) -> [[UInt8]] {
        let own = headers.only(["Cookie"]).map(\.content.bytes)
        guard let jar else { return own }
        // The engine's jar goes by the Host field, too.
        let places = [url] + headers.values(named: "Host").map { "http://\($0)" }
        return own + (try jar.shown(to: try Self.hosts(of: places)))
    }

    fileprivate static func hosts(of urls: [String]) throws(NetError) -> Set<String> {
        var hosts: Set<String> = []
        for url in urls {
            guard let host = url.canonicalURLHost else {
                throw NetError(.badURL, "the URL has no host that can be: \(url.shownPlace)")
            }
            hosts.insert(host)
        }
        return hosts
    }

    /// The hosts of an answer's hops, where redirects led to another one than the request's; nil where one is unknown.
    func hosts(onTheWayTo metrics: Metrics) -> [String]? {
        guard metrics.count > 1, let hosts = try? Self.hosts(of: [url] + metrics.map(\.url)) else {
            return metrics.count > 1 ? nil : []
        }
        return hosts.count > 1 ? hosts.sorted() : []
    }

    /// Whether it may get cookies from a jar.
    fileprivate func getsCookies(_ context: CacheContext) -> Bool { context.jar != nil && cookieUse.sends }

    /// What tells who asks, cookies and the fields of secret names aside.
    fileprivate var shownCredentials: [String] {
        var shown = headers.byteScalars(named: "Authorization")
        for name in identityFields {
            shown += [name] + headers.byteScalars(named: name)
        }
        if let credentials {
            shown += [credentials.user, credentials.password, credentials.token]
        }
        if url.hasUserinfo {
            shown.append(url)
        }
        return shown
    }
}

extension String {
    /// The canonical host of an absolute URL; empty where there is none.
    var hostName: String { canonicalURLHost ?? "" }
}
