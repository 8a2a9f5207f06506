extension Caching {
    /// Returns true if a request shows no credentials, so that its response can be shared. Most requests show none, and
    /// then nothing has to be hashed or waited for.
    func isAnybodys(_ request: Request<Bytes>, named name: String?, _ context: CacheContext) -> Bool {
        if let name {
            return name.isEmpty
        }
        return request.credentials == nil && !request.getsCookies(context) && !request.headers.hasAny(shownNames)
            && !hasSecrets(request.headers) && !request.url.hasUserinfo && request.identityFields.isEmpty
            && request.wrappingService == nil
            && !context.showsUnseen(request)
    }

    /// Returns a hash of the user that a request's responses belong to; empty for shared ones.
    ///
    /// - Parameters:
    ///   - name: the scope of the policy; `nil` distinguishes users by their credentials.
    ///   - cookies: the cookies that are sent with it; `nil` leaves them out.
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

    /// Returns the credentials besides cookies: those of the request, and the fields with secret names.
    func shownCredentials(of request: Request<Bytes>) -> [String] {
        var shown = request.shownCredentials
        for field in request.headers where !field.name.isNegotiating && !field.isOne(of: shownNames) {
            if secrets.contains(field.name) {
                shown += [field.name.lowercased(), field.content.byteScalars]
            }
        }
        return shown
    }

    /// Returns the scope of requests that show the service no credentials.
    func scopeOfNobody(in request: Request<Bytes>) async throws(NetError) -> String {
        try await scope([], by: request.wrappingService)
    }

    /// Returns the scope of these credentials at a service; empty for shared responses.
    private func scope(_ shown: [[UInt8]], by service: String?) async throws(NetError) -> String {
        if let service {
            return Bytes(try await secret.hash(["service", service].map { Array($0.utf8) } + shown)).hexText
        }
        return shown.isEmpty ? "" : Bytes(try await secret.hash([Array("shown".utf8)] + shown)).hexText
    }

    /// Returns a hash of the cookies that a request is sent with; empty without cookies.
    func owner(of request: Request<Bytes>, _ context: CacheContext) async throws(NetError) -> [UInt8] {
        let cookies = try request.cookies(from: try context.jarCookies(for: request))
        return cookies.isEmpty ? [] : try await secret.hash([Array("cookies".utf8)] + cookies)
    }

    /// Returns a hash of the cookies that these hosts may receive; empty without cookies.
    func owner(of jar: (any JarCookies)?, at hosts: [String]) async throws(NetError) -> [UInt8] {
        let cookies = try jar?.shown(to: Set(hosts)) ?? []
        return cookies.isEmpty ? [] : try await secret.hash([Array("redirected".utf8)] + cookies)
    }
}

extension CacheContext {
    /// Returns the current jar, or `nil` if the request gets no cookies from one.
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
    /// The lower-case names of further fields that identify the user, besides Authorization and Cookie.
    var identityFields: [String] { hasNotes ? self[IdentityFieldsNote.self] : [] }

    /// Returns the request, with each field that `other` lacks marked as identifying the user.
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

    /// The name of a service that changes calls behind the cache; `nil` without one.
    fileprivate var wrappingService: String? {
        guard hasNotes, let service, service.wrapsCalls else { return nil }
        return service.name
    }
}

extension Request {
    /// Returns the cookies that are sent, its own and those of a jar, in bytes.
    ///
    /// Throws for a URL without a valid host, because its cookies are unknown.
    func cookies(from jar: (any JarCookies)?) throws(NetError) -> [[UInt8]] {
        let own = headers.only(["Cookie"]).map(\.content.bytes)
        guard let jar else { return own }
        // The engine's jar uses the Host field, too.
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

    /// Returns the hosts of the response's hops if redirects led to another host than the request's; `nil` if one is
    /// unknown.
    func hosts(onTheWayTo metrics: Metrics) -> [String]? {
        guard metrics.count > 1, let hosts = try? Self.hosts(of: [url] + metrics.map(\.url)) else {
            return metrics.count > 1 ? nil : []
        }
        return hosts.count > 1 ? hosts.sorted() : []
    }

    /// Returns true if it may get cookies from a jar.
    fileprivate func getsCookies(_ context: CacheContext) -> Bool { context.jar != nil && cookieUse.sends }

    /// The credentials besides cookies and the fields with secret names.
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
    /// The canonical host of an absolute URL; empty without one.
    var hostName: String { canonicalURLHost ?? "" }
}
