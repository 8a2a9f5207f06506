/// The sources of credentials for the challenges of a call.
struct ChallengeCoordinator: Sendable {
    let handler: (@Sendable (Challenge) async -> ChallengeAction)?
    let proxyHandler: (@Sendable (Challenge) async -> ChallengeAction)?
    let store: CredentialStore?
    let watch: Watch?
}

/// Sends a request again after each challenge, until it succeeds or there are no new credentials.
struct ChallengeRounds {
    /// The credentials that were sent last and that the store has to be notified of.
    private struct SentCredentials {
        let credentials: Credentials
        let space: ProtectionSpace
        let isProxy: Bool
        let keepsInStore: Bool
    }

    private static let maxRounds = 3

    private let coordinator: ChallengeCoordinator
    private let agentProxy: Proxy?
    private var originURL: String
    private let budget: TimeBudget
    private var rounds = 0
    private var serverFailures: Int
    private var proxyFailures: Int
    private var lastSent: SentCredentials?
    /// Whether the server received credentials that are not the request's own. Credentials for a proxy do not count,
    /// because they never reach the server.
    private(set) var hasSentToServer = false
    /// The request to send next. After redirects it is the request of the challenged hop.
    private(set) var request: Request<Bytes>
    /// The redirects and challenges before ``request``.
    private(set) var history = RedirectHistory()

    /// - Parameters:
    ///   - originURL: the URL of the call's first request. Only its origin may receive credentials.
    ///   - budget: the call's time limit. If `nil`, the time begins now.
    init(
        _ request: Request<Bytes>, from originURL: String, agentProxy: Proxy?, coordinator: ChallengeCoordinator,
        within budget: TimeBudget?
    ) {
        self.request = request
        self.originURL = originURL
        self.coordinator = coordinator
        self.budget = budget ?? TimeBudget(request.content.limitsStorage?.value.total)
        self.agentProxy = agentProxy
        serverFailures = request.effectiveCredentials == nil && request.headers["Authorization"] == nil ? 0 : 1
        proxyFailures = (request.ownProxy ?? agentProxy)?.credentials == nil ? 0 : 1
    }

    /// Returns the request with the remaining time as its total limit.
    func bounded() throws(NetError) -> Request<Bytes> { try budget.bounding(request, isExact: rounds > 0) }

    /// Obtains credentials if the response is a challenge. Returns true if ``request`` is to be sent again with them.
    ///
    /// - Parameter heads: the heads of the redirects before the response, if they are known.
    mutating func prepareRetry(
        after response: Response<Bytes>, behind heads: [ResponseHead] = []
    ) async throws(NetError) -> Bool {
        let isProxy = response.status == 407
        await reportToStore(response)
        if originURL == request.url {
            originURL = originURL.secured(as: response.metrics.first?.url)
        }
        let challenged = request.lastHop(along: response.metrics)
        guard isProxy ? proxy != nil : response.status == 401 && request.credentials != .none, rounds < Self.maxRounds,
            challenged.body?.isRepeatable ?? true,
            isProxy || isFromTrustedOrigin(response), let offer = try await nextCredentials(after: response)
        else { return false }
        history.add(redirectsOf: response, heads)
        request = challenged
        use(offer)
        history.beginTransfer()
        return true
    }

    /// Does the same after the error of a proxy that requires credentials before it opens a tunnel.
    mutating func prepareRetry(after error: NetError) async throws(NetError) -> Bool {
        guard error.code == .proxy, let refusal = error.response, refusal.status == 407 else { return false }
        return try await prepareRetry(after: refusal)
    }

    /// Returns the credentials for a challenge, or `nil` if there are none.
    private func nextCredentials(after response: Response<Bytes>) async throws(NetError) -> OfferedCredentials? {
        let isProxy = response.status == 407
        let fields = response.headers.only([isProxy ? "Proxy-Authenticate" : "WWW-Authenticate"])
            .map(\.content.readableText)
        for item in Challenge.offers(in: fields) {
            var challenge = Challenge(
                url: response.url.isEmpty ? request.url.withoutUserinfo : response.url, scheme: item.scheme,
                realm: item.realm, isProxy: isProxy, previousFailureCount: isProxy ? proxyFailures : serverFailures,
                response: response)
            let space = space(of: challenge)
            if let space, let store = coordinator.store {
                challenge.proposed = try await store.credentials(for: space)
            }
            let action = try await action(for: challenge)
            coordinator.watch?.report(.challenged(challenge, action), of: request)
            switch action {
            case .use(let credentials):
                return OfferedCredentials(credentials, challenge, space)
            case .keep(let credentials):
                return OfferedCredentials(credentials, challenge, space, keepsInStore: true)
            case .useDefault:
                guard challenge.previousFailureCount == 0, let proposed = challenge.proposed else { return nil }
                return OfferedCredentials(proposed, challenge, space)
            case .cancel:
                throw NetError(.cancelled, "the challenge hook cancelled the request", response: response)
            case .reject:
                continue
            case .fail(let error):
                throw NetError(
                    .authentication, "the challenge hook failed the request: \(error)", response: response,
                    underlying: error)
            }
        }
        return nil
    }

    private func action(for challenge: Challenge) async throws(NetError) -> ChallengeAction {
        guard let handler = challenge.isProxy ? coordinator.proxyHandler : coordinator.handler else {
            return .useDefault
        }
        do {
            return try await budget.run("the challenge hook") { await handler(challenge) }
        } catch {
            throw NetError(
                wrapping: error, .authentication, "the challenge hook failed", response: challenge.response)
        }
    }

    /// The proxy that may receive credentials; `nil` if the request uses no proxy.
    private var proxy: Proxy? {
        let proxy = request.ownProxy ?? agentProxy
        return proxy?.choice == .direct ? nil : proxy
    }

    private func isFromTrustedOrigin(_ response: Response<Bytes>) -> Bool {
        // A response without redirects belongs to the requested URL, whose scheme an HSTS upgrade may have changed.
        let hasNoRedirects = response.url.isEmpty || response.metrics.count == 1
        return originURL.hasSameOrigin(as: hasNoRedirects ? request.url.secured(as: response.url) : response.url)
    }

    /// Notifies the store whether the credentials that were sent last were accepted or refused.
    private mutating func reportToStore(_ response: Response<Bytes>) async {
        guard let lastSent, let store = coordinator.store else { return }
        self.lastSent = nil
        if response.status == (lastSent.isProxy ? 407 : 401) {
            await store.refuse(lastSent.credentials, for: lastSent.space)
        } else if lastSent.keepsInStore {
            await store.keep(lastSent.credentials, for: lastSent.space)
        }
    }

    private func space(of challenge: Challenge) -> ProtectionSpace? {
        guard challenge.isProxy else { return ProtectionSpace(url: challenge.url, realm: challenge.realm) }
        guard case .url(let url) = proxy?.choice else { return nil }
        let address = url.contains("://") ? url : "http://\(url)"
        return ProtectionSpace(url: address, realm: challenge.realm, isProxy: true)
    }

    private mutating func use(_ offer: OfferedCredentials) {
        rounds += 1
        let credentials = offer.credentials
        if offer.challenge.isProxy {
            request.proxy = proxy?.replacingCredentials(by: credentials) ?? .inherited
            proxyFailures += 1
        } else {
            request.credentials = credentials
            request.headers["Authorization"] = nil  // It would be sent instead of the credentials.
            hasSentToServer = true
            serverFailures += 1
        }
        if let space = offer.space, offer.keepsInStore || credentials == offer.challenge.proposed {
            lastSent = SentCredentials(
                credentials: credentials, space: space, isProxy: offer.challenge.isProxy,
                keepsInStore: offer.keepsInStore)
        }
    }
}

/// The credentials for a challenge, from the handler or the store.
private struct OfferedCredentials {
    let credentials: Credentials
    let challenge: Challenge
    let space: ProtectionSpace?
    let keepsInStore: Bool

    init(_ credentials: Credentials, _ challenge: Challenge, _ space: ProtectionSpace?, keepsInStore: Bool = false) {
        self.credentials = credentials
        self.challenge = challenge
        self.space = space
        self.keepsInStore = keepsInStore
    }
}
