extension Caching {
    /// Whether a request shows nothing of who asks, so that anybody may have its answer. Most are like that, and then
    /// there is nothing to hash, nor to wait for.
    func isAnybodys(_ request: Request<Bytes>, named name: String?, _ context: CacheContext) -> Bool {
        if let name {
            return name.isEmpty
        }
        return request.credentials == nil && !request.getsCookies(context) && !request.headers.hasAny(shownNames)
            && !request.url.hasUserinfo && request.identityFields.isEmpty && request.wrappingService == nil
            && !context.showsUnseen(request)
    }

    /// Whose answers a request gets, as a hash; empty for anybody's.
    ///
    /// - Parameters:
    ///   - name: what the policy says; nil tells users apart by what they show.
    ///   - countsCookies: whether cookies are among that.
    func scope(
        of request: Request<Bytes>, named name: String?, _ context: CacheContext, countsCookies: Bool
    ) async throws(NetError) -> String {
        if let name {
            return name.isEmpty ? "" : Bytes(try await secret.hash(["scope", name])).hexText
        }
        var shown = request.shownCredentials + (try await context.unseenCredentials(of: request))
        if countsCookies, request.hasCookies(context) {
            shown += try await cookies(of: request, context)
        }
        return try await scope(shown, by: request.wrappingService)
    }

    /// That of those who show nothing to the request's service.
    func scopeOfNobody(in request: Request<Bytes>) async throws(NetError) -> String {
        try await scope([], by: request.wrappingService)
    }

    /// Whose answers those are that show this, by a service; empty for anybody's.
    func scope(_ shown: [String], by service: String?) async throws(NetError) -> String {
        if let service {
            return Bytes(try await secret.hash(["service", service] + shown)).hexText
        }
        return shown.isEmpty ? "" : Bytes(try await secret.hash(["shown"] + shown)).hexText
    }

    /// Whose cookies a request is sent with, as a hash; empty without any.
    func owner(of request: Request<Bytes>, _ context: CacheContext) async throws(NetError) -> [UInt8] {
        guard request.hasCookies(context) else { return [] }
        let cookies = try await cookies(of: request, context)
        return cookies.isEmpty ? [] : try await secret.hash(["cookies"] + cookies)
    }

    private func cookies(of request: Request<Bytes>, _ context: CacheContext) async throws(NetError) -> [String] {
        var cookies = request.headers.values(named: "Cookie")
        if let jar = context.jar, request.cookieUse.sends {
            // The engine's jar goes by the Host field, too.
            let host = request.headers["Host"].map { "http://\($0)".hostName } ?? request.url.hostName
            cookies += try await jar.cookies().filter { $0.isFor(host) }.map { "\($0.name)=\($0.value)" }.sorted()
        }
        return cookies
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
    /// Whether it may be sent with cookies.
    fileprivate func hasCookies(_ context: CacheContext) -> Bool {
        headers.hasAny(["Cookie"]) || getsCookies(context)
    }

    /// Whether it may get cookies from a jar.
    fileprivate func getsCookies(_ context: CacheContext) -> Bool { context.jar != nil && cookieUse.sends }

    /// What tells who asks, cookies aside.
    var shownCredentials: [String] {
        var shown = headers.values(named: "Authorization")
        for name in identityFields {
            shown += [name] + headers.values(named: name)
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

extension Cookie {
    fileprivate func isFor(_ host: String) -> Bool {
        let domain = domain.lowercased()
        return host == domain || (includesSubdomains && host.hasSuffix("." + domain))
    }
}

extension String {
    /// The host of an absolute URL in lower case, without a port; empty where there is none.
    var hostName: String {
        guard let origin, let mark = origin.firstRange(of: "://") else { return "" }
        let place = origin[mark.upperBound...]
        if place.hasPrefix("[") {
            return String(place.prefix { $0 != "]" }) + "]"
        }
        return String(place.prefix { $0 != ":" })
    }
}
