import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// Additions of an agent or a service are sent only to the origin of its base URL.
struct TrustedOriginsTests {
    private let stub = StubTransport { _ in .text("x") }
    private static let agentSecrets = (1...5).map { "agentsecret\($0)" }
    private static let serviceSecrets = (1...6).map { "servicesecret\($0)" }
    private static let otherOriginURLs = [
        "//other/x", "http://other/x", "HTTP://OTHER", "https://home/x", "http://home:81/x", "http://home.other/x",
        "http://home@other/x", "http://home%2eother/x", "http://xhome/x", "//other:80/?q", "//home:8/x#f",
    ]
    private static let atHome = [
        "x", "/x", "?q", "", "HTTP://Home/x", "http://home:80/x", "//home/x", "//HOME:80", "http://me@home/x",
        "x//other/y", "?http://other/x", "#//other/x",
    ]

    private func configuration(base: String? = "http://home/v1") -> Agent.Configuration {
        let secrets = Self.agentSecrets
        var configuration = Agent.Configuration(
            baseURL: base, headers: ["Authorization": secrets[0], "Accept": "text/plain"])
        configuration.parameters = ["key": .string(secrets[1])]
        configuration.computedHeaders = { _ in ["X-Session": secrets[2]] }
        configuration.computedParameters = { _ in ["session": .string(secrets[3])] }
        configuration.interceptors = [
            CredentialRefresh(secrets[4]) {
                $0.headers["X-Token"] = $1
            } refresh: { _ in
                "new"
            }
        ]
        return configuration
    }

    private func service(base: String? = "http://home/v1") -> Service.Configuration {
        let secrets = Self.serviceSecrets
        var configuration = Service.Configuration(baseURLs: base.map { [.release: $0] } ?? [:])
        configuration.headers = ["X-Service": secrets[0]]
        configuration.parameters = ["service": .string(secrets[1])]
        configuration.computedHeaders = { _ in ["X-Computed": secrets[2]] }
        configuration.computedParameters = { _ in ["computed": .string(secrets[3])] }
        configuration.adjustParameters = { parameters, _ in (parameters ?? [:]).filled(with: secrets[4]) }
        configuration.interceptors = [
            CredentialRefresh(secrets[5]) {
                $0.headers["X-Ticket"] = $1
            } refresh: { _ in
                "new"
            }
        ]
        configuration.signing = [
            MD5Signing(publicKey: "app", privateKey: "p"),
            Wrapping { call, next async throws(NetError) in
                var call = call
                call.request.headers["X-Own-Signature"] = "signed"
                return try await next(call)
            },
        ]
        return configuration
    }

    /// Returns the secrets that the last request carries.
    private func sentSecrets(_ received: StubRequest?) -> [String] {
        let all = (received?.url ?? "") + (received.map { "\($0.headers.map { "\($0.name): \($0.value)" })" } ?? "")
        return (Self.agentSecrets + Self.serviceSecrets + ["signed", "sig="]).filter { all.contains($0) }
    }

    private func sentSecrets(
        _ url: String, _ configuration: Agent.Configuration, service: Service.Configuration? = nil,
        _ change: (inout Request<Bytes>) -> Void = { _ in }
    ) async throws -> [String] {
        var request = Request<Bytes>(url)
        request.service = service.map { Service("s", $0) }
        change(&request)
        _ = try await Agent(configuration, transport: stub).send(request)
        return sentSecrets(stub.requests.last)
    }

    private static let all = agentSecrets + serviceSecrets + ["signed", "sig="]

    @Test(arguments: otherOriginURLs)
    func crossOriginURLInheritsNothingFromItsAgent(url: String) async throws {
        #expect(try await sentSecrets(url, configuration()) == [])
        #expect(try await sentSecrets(url, configuration(), service: service()) == [])
        #expect(try await sentSecrets(url, configuration(), service: service(base: nil)) == [])
    }

    @Test(arguments: atHome)
    func urlAtTheOriginOfTheBaseInheritsEverything(url: String) async throws {
        #expect(try await sentSecrets(url, configuration()) == Self.agentSecrets)
        #expect(try await sentSecrets(url, configuration(), service: service()) == Self.all)
        #expect(try await sentSecrets(url, configuration(), service: service(base: nil)) == Self.all)
    }

    @Test func fieldsOfABareAgentAreSentOnlyToTheOriginOfTheBase() async throws {
        let agent = Agent(.init(baseURL: "http://home", headers: ["X-Key": "agentsecret1"]), transport: stub)
        for url in Self.otherOriginURLs {
            _ = try await agent.send(Request<Bytes>(url))
            #expect(sentSecrets(stub.requests.last) == [], "\(url)")
        }
        _ = try await agent.send(Request<Bytes>("http://HOME:80/x"))
        #expect(sentSecrets(stub.requests.last) == ["agentsecret1"])
    }

    @Test func withoutABaseURLNothingIsWithheld() async throws {
        #expect(try await sentSecrets("http://other/x", configuration(base: nil)) == Self.agentSecrets)
        let all = try await sentSecrets("http://other/x", configuration(base: nil), service: service(base: nil))
        #expect(all == Self.all)
    }

    @Test func listedOriginsAreTrusted() async throws {
        var trusting = configuration()
        trusting.trustedOrigins = ["https://other:8443/any/path", "nothing", ""]
        #expect(try await sentSecrets("//other/x", trusting) == [])
        #expect(try await sentSecrets("HTTPS://OTHER:8443/x", trusting) == Self.agentSecrets)
        // The service's own list of origins applies to the service's secrets.
        var own = service()
        #expect(try await sentSecrets("https://other:8443/x", trusting, service: own) == Self.agentSecrets)
        own.trustedOrigins = ["https://other:8443"]
        #expect(try await sentSecrets("https://other:8443/x", trusting, service: own) == Self.all)
        #expect(
            try await sentSecrets("https://other:8443/x", configuration(), service: own)
                == Self.all.filter { $0.first == "s" })
    }

    @Test func baseURLOfARequestIsTrustedForThatRequest() async throws {
        #expect(try await sentSecrets("x", configuration()) { $0.baseURL = "http://cdn/files" } == Self.agentSecrets)
        #expect(try await sentSecrets("//cdn/x", configuration()) { $0.baseURL = "http://cdn" } == Self.agentSecrets)
        // An absolute URL of the same CDN needs an entry in the list, unless its request names the base too.
        var trusting = configuration()
        #expect(try await sentSecrets("http://cdn/x", trusting) == [])
        trusting.trustedOrigins = ["http://cdn"]
        #expect(try await sentSecrets("http://cdn/x", trusting) == Self.agentSecrets)
    }

    @Test func aServicesSecretsGoToTheBaseURLOfTheRequest() async throws {
        let onCDN = { (request: inout Request<Bytes>) in request.baseURL = "http://cdn/files" }
        #expect(try await sentSecrets("x", configuration(), service: service(), onCDN) == Self.all)
        #expect(try await sentSecrets("//other/x", configuration(), service: service(), onCDN) == [])
    }

    @Test func configuredBaseIsTrusted() async throws {
        #expect(try await sentSecrets("x", configuration()) { $0.baseURL = "http://own/" } == Self.agentSecrets)
        #expect(try await sentSecrets("x", configuration(), service: service(base: "http://api/")) == Self.all)
        // A path that begins with "//" is cross-origin too.
        #expect(try await sentSecrets("//other/x", configuration()) { $0.baseURL = "http://own/" } == [])
        #expect(try await sentSecrets("//other/x", configuration(base: nil)) { $0.baseURL = "http://own/" } == [])
        #expect(
            try await sentSecrets("//home/x", configuration(), service: service(base: "http://api/"))
                == Self.agentSecrets)
    }

    @Test func aServiceInAnEnvironmentWithoutABaseTrustsNoAbsoluteURL() async throws {
        let service = Service("s", service(base: "http://api/"))
        service.environment = .develop
        var request = Request<Bytes>("http://other/x")
        request.service = service
        _ = try await Agent(configuration(base: nil), transport: stub).send(request)
        #expect(sentSecrets(stub.requests.last) == [])
    }

    @Test func anonymousFieldsAndRequestFieldsAreSentToEveryOrigin() async throws {
        let agent = Agent(configuration(), transport: stub)
        var request = Request<Bytes>("//other/x", parameters: ["own": 1], headers: ["X-Own": "1"])
        request.credentials = .bearer("own")
        request.interceptors = [
            CredentialRefresh("own") {
                $0.headers["X-Own-Token"] = $1
            } refresh: { _ in
                ""
            }
        ]
        _ = try await agent.send(request)
        let received = try #require(stub.requests.last)
        #expect(received.url == "http://other/x?own=1")
        #expect(received.headers["Accept"] == "text/plain")
        #expect(received.headers["User-Agent"] == Agent.Configuration.defaultUserAgent)
        #expect(received.headers["X-Own"] == "1" && received.headers["X-Own-Token"] == "own")
        #expect(received.request.credentials == .bearer("own"))
    }

    @Test func replacedServiceFieldsAreSentOnlyToTheOriginOfTheBase() async throws {
        var only = service()
        only.replacingHeaders = ["X-Only": "servicesecret1", "Accept": "a/b"]
        #expect(
            try await sentSecrets("//other/x", configuration(), service: only) { $0.headers = ["X-Own": "1"] } == [])
        #expect(stub.requests.last?.headers == ["Accept": "a/b"])
    }

    @Test func computedHeadersAreNotEvaluatedForUntrustedOrigins() async throws {
        let evaluationCount = Counter()
        var counting = configuration()
        counting.computedHeaders = { _ in
            evaluationCount.increment()
            throw NetError(.authentication, "nobody has signed in")
        }
        #expect(try await sentSecrets("//other/x", counting) == [])
        #expect(evaluationCount.value == 0)
    }

    @Test func crossOriginRefusalStartsNoRefreshAndCallsNoHandler() async throws {
        let (refreshes, challenges) = (Counter(), Counter())
        let stub = StubTransport { _ in StubReply(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"r\""]) }
        var configuration = Agent.Configuration(baseURL: "http://home")
        configuration.interceptors.append(
            TransferHooks(challenge: { _ in
                challenges.increment()
                return .use(.basic(user: "u", password: "p"))
            }))
        configuration.interceptors += [
            CredentialRefresh("t") {
                $0.headers["X-Token"] = $1
            } refresh: { _ in
                refreshes.increment()
                return "new"
            }
        ]
        let agent = Agent(configuration, transport: stub)
        #expect(try await agent.send(Request<Bytes>("//other/x")).status == 401)
        #expect(refreshes.value == 0 && challenges.value == 0)
        #expect(stub.requests.count == 1)
        var own = Request<Bytes>("//other/x")
        own.interceptors.append(TransferHooks(challenge: { _ in .use(.basic(user: "own", password: "p")) }))
        _ = try await agent.send(own)
        #expect(stub.requests.last?.request.credentials == .basic(user: "own", password: "p"))
        #expect(challenges.value == 0)
        #expect(try await agent.send(Request<Bytes>("/x")).status == 401)
        #expect(refreshes.value == 1 && challenges.value > 0)
    }

    @Test func agentClientCertificateIsSentOnlyToTheOriginOfTheBase() async throws {
        var configuration = Agent.Configuration(baseURL: "http://home")
        configuration.trust.identity = .file(certificate: "c.pem", key: "k.pem")
        let agent = Agent(configuration, transport: stub)
        _ = try await agent.send(Request<Bytes>("x"))
        #expect(stub.requests.last?.request.trust == nil)
        _ = try await agent.send(Request<Bytes>("//other/x"))
        #expect(stub.requests.last?.request.trust == TrustPolicy())
        var own = Request<Bytes>("//other/x")
        own.trust = configuration.trust
        _ = try await agent.send(own)
        #expect(stub.requests.last?.request.trust == configuration.trust)
    }
}

extension Parameters {
    fileprivate func filled(with secret: String) -> Parameters {
        var filled = self
        filled["adjusted"] = .string(secret)
        return filled
    }
}
