/// The sources of credentials for a call.
struct ChallengeDesk: Sendable {
    let handler: (@Sendable (Challenge) async -> ChallengeAnswer)?
    let proxyHandler: (@Sendable (Challenge) async -> ChallengeAnswer)?
    let store: CredentialStore?
    let watch: Watch?
}

/// The attempts of a request as long as there are new credentials for it.
struct ChallengeRounds {
    /// The last credentials that were sent, and what to do with them.
    private struct Shown {
        let credentials: Credentials
        let space: ProtectionSpace
        let isProxy: Bool
        let isToBeKept: Bool
    }

    private static let maxRounds = 3

    private let desk: ChallengeDesk
    private let agentProxy: Proxy?
    private var home: String
    private let budget: TimeBudget
    private var rounds = 0
    private var serverFailures: Int
    private var proxyFailures: Int
    private var shown: Shown?
    /// Whether the server received other credentials than the request's own. Credentials for a proxy never reach the
    /// server.
    private(set) var hasShown = false
    /// The request to send now: the challenged one, not the result of its redirects.
    private(set) var request: Request<Bytes>
    /// The redirects that led to it.
    private(set) var trail = RedirectTrail()

    /// - Parameters:
    ///   - home: a URL of the origin that may receive credentials: that of the call's first request.
    ///   - budget: the call's time; if `nil`, it begins now.
    init(
        _ request: Request<Bytes>, from home: String, agentProxy: Proxy?, desk: ChallengeDesk,
        within budget: TimeBudget?
    ) {
        self.request = request
        self.home = home
        self.desk = desk
        self.budget = budget ?? TimeBudget(request.limits?.total)
        self.agentProxy = agentProxy
        serverFailures = request.credentials == nil && request.headers["Authorization"] == nil ? 0 : 1
        proxyFailures = (request.proxy ?? agentProxy)?.credentials == nil ? 0 : 1
    }

    /// Returns the request with the remaining time as its total limit.
    func bounded() throws(NetError) -> Request<Bytes> { try budget.bounding(request, isExact: rounds > 0) }

    /// Obtains credentials for a challenge. Returns true if the request is to be sent again.
    ///
    /// - Parameter heads: the heads of the redirects that led to the response, if known.
    mutating func mayTryAgain(
        after response: Response<Bytes>, behind heads: [ResponseHead] = []
    ) async throws(NetError) -> Bool {
        let isProxy = response.status == 407
        await settle(response)
        if home == request.url {
            home = home.secured(as: response.metrics.first?.url)
        }
        let asked = request.led(along: response.metrics)
        guard isProxy ? proxy != nil : response.status == 401, rounds < Self.maxRounds,
            asked.body?.isRepeatable ?? true,
            isProxy || isAtHome(response), let offer = try await offer(after: response)
        else { return false }
        trail.add(redirectsOf: response, heads)
        request = asked
        show(offer)
        trail.goesOn()
        return true
    }

    /// Does the same for a proxy that requires credentials before it opens a tunnel.
    mutating func mayTryAgain(after error: NetError) async throws(NetError) -> Bool {
        guard error.code == .proxy, let refusal = error.response, refusal.status == 407 else { return false }
        return try await mayTryAgain(after: refusal)
    }

    /// Returns the next credentials, or `nil` if there are none.
    private func offer(after response: Response<Bytes>) async throws(NetError) -> Offer? {
        let isProxy = response.status == 407
        let fields = response.headers.only([isProxy ? "Proxy-Authenticate" : "WWW-Authenticate"])
            .map(\.content.readableText)
        for item in AuthenticateField.items(in: fields) {
            var challenge = Challenge(
                url: response.url.isEmpty ? request.url.withoutUserinfo : response.url, scheme: item.scheme,
                realm: item.realm, isProxy: isProxy, previousFailureCount: isProxy ? proxyFailures : serverFailures,
                response: response)
            let space = space(of: challenge)
            if let space, let store = desk.store {
                challenge.proposed = try await store.credentials(for: space)
            }
            let answer = try await answer(to: challenge)
            desk.watch?.tell(.challenged(challenge, answer), of: request)
            switch answer {
            case .use(let credentials):
                return Offer(credentials, challenge, space)
            case .keep(let credentials):
                return Offer(credentials, challenge, space, isToBeKept: true)
            case .useDefault:
                guard challenge.previousFailureCount == 0, let proposed = challenge.proposed else { return nil }
                return Offer(proposed, challenge, space)
            case .cancel:
                throw NetError(.cancelled, "the challenge handler cancelled the request", response: response)
            case .reject:
                continue
            case .fail(let error):
                throw NetError(
                    .authentication, "the challenge handler failed the request: \(error)", response: response,
                    underlying: error)
            }
        }
        return nil
    }

    private func answer(to challenge: Challenge) async throws(NetError) -> ChallengeAnswer {
        guard let handler = challenge.isProxy ? desk.proxyHandler : desk.handler else { return .useDefault }
        do {
            return try await budget.answer(of: "the challenge handler") { await handler(challenge) }
        } catch {
            throw NetError(
                asking: error, .authentication, "the challenge handler failed", response: challenge.response)
        }
    }

    /// The proxy that may receive credentials; `nil` without a proxy.
    private var proxy: Proxy? {
        let proxy = request.proxy ?? agentProxy
        return proxy?.choice == .direct ? nil : proxy
    }

    private func isAtHome(_ response: Response<Bytes>) -> Bool {
        // A single hop responds for the requested URL, even after an HSTS upgrade.
        let isAtOnce = response.url.isEmpty || response.metrics.count == 1
        return home.hasSameOrigin(as: isAtOnce ? request.url.secured(as: response.url) : response.url)
    }

    /// Records in the store whether the last credentials were accepted or refused.
    private mutating func settle(_ response: Response<Bytes>) async {
        guard let shown, let store = desk.store else { return }
        self.shown = nil
        if response.status == (shown.isProxy ? 407 : 401) {
            await store.refuse(shown.credentials, for: shown.space)
        } else if shown.isToBeKept {
            await store.keep(shown.credentials, for: shown.space)
        }
    }

    private func space(of challenge: Challenge) -> ProtectionSpace? {
        guard challenge.isProxy else { return ProtectionSpace(url: challenge.url, realm: challenge.realm) }
        guard case .url(let url) = proxy?.choice else { return nil }
        let place = url.contains("://") ? url : "http://\(url)"
        return ProtectionSpace(url: place, realm: challenge.realm, isProxy: true)
    }

    private mutating func show(_ offer: Offer) {
        rounds += 1
        let credentials = offer.credentials
        if offer.challenge.isProxy {
            request.proxy = proxy?.asked(with: credentials)
            proxyFailures += 1
        } else {
            request.credentials = credentials
            request.headers["Authorization"] = nil  // It would be sent instead of them.
            hasShown = true
            serverFailures += 1
        }
        if let space = offer.space, offer.isToBeKept || credentials == offer.challenge.proposed {
            shown = Shown(
                credentials: credentials, space: space, isProxy: offer.challenge.isProxy, isToBeKept: offer.isToBeKept)
        }
    }
}

/// The credentials for a challenge.
private struct Offer {
    let credentials: Credentials
    let challenge: Challenge
    let space: ProtectionSpace?
    let isToBeKept: Bool

    init(_ credentials: Credentials, _ challenge: Challenge, _ space: ProtectionSpace?, isToBeKept: Bool = false) {
        self.credentials = credentials
        self.challenge = challenge
        self.space = space
        self.isToBeKept = isToBeKept
    }
}
