/// A request that is sent again while a handler has credentials for it.
struct ChallengeRounds {
    private static let maxRounds = 3

    private let handler: @Sendable (Challenge) async -> ChallengeAnswer
    private let agentProxy: Proxy?
    private var rounds = 0
    private var serverFailures: Int
    private var proxyFailures: Int
    /// The request as it is to be sent now.
    private(set) var request: Request<Bytes>

    init(
        _ request: Request<Bytes>, configuration: Agent.Configuration,
        handler: @escaping @Sendable (Challenge) async -> ChallengeAnswer
    ) {
        self.request = request
        self.handler = handler
        agentProxy = configuration.proxy
        serverFailures = request.credentials == nil ? 0 : 1
        proxyFailures = (request.proxy ?? configuration.proxy)?.credentials == nil ? 0 : 1
    }

    /// Asks the handler; true when the request is to be sent again.
    mutating func mayTryAgain(after response: Response<Bytes>) async throws(NetError) -> Bool {
        let isProxy = response.status == 407
        guard response.status == 401 || isProxy, rounds < Self.maxRounds, request.body?.isRepeatable ?? true,
            isProxy || request.url.hasSameOrigin(as: response.url)
        else { return false }
        let fields = response.headers.values(named: isProxy ? "Proxy-Authenticate" : "WWW-Authenticate")
        for item in AuthenticateField.items(in: fields) {
            let challenge = Challenge(
                url: response.url.isEmpty ? request.url.withoutUserinfo : response.url, scheme: item.scheme,
                realm: item.realm, isProxy: isProxy, previousFailureCount: isProxy ? proxyFailures : serverFailures,
                response: response)
            switch await handler(challenge) {
            case .use(let credentials):
                take(credentials, isProxy: isProxy)
                return true
            case .useDefault:
                return false
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
        return false
    }

    private mutating func take(_ credentials: Credentials, isProxy: Bool) {
        rounds += 1
        if isProxy {
            request.proxy = (request.proxy ?? agentProxy)?.asked(with: credentials)
            proxyFailures += 1
        } else {
            request.credentials = credentials
            serverFailures += 1
        }
    }
}
