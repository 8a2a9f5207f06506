import NetKitTesting
import Testing

@testable import NetKit

@Suite(.timeLimit(.minutes(5)))
struct CredentialStoreTests {
    private static let right = Credentials.basic(user: "me", password: "secret")
    private static let wrong = Credentials.basic(user: "me", password: "wrong")
    private let server: LoopbackServer

    init() throws {
        server = try LoopbackServer()
        server.script("/", Reply(body: Array("in".utf8), user: "me", password: "secret"))
    }

    private var space: ProtectionSpace {
        ProtectionSpace(scheme: "http", host: "127.0.0.1", port: Int(server.port), realm: "nettesting")
    }

    private func agent(
        _ store: CredentialStore, _ handler: (@Sendable (Challenge) async -> ChallengeAction)? = nil
    ) -> Agent {
        Agent(configured: { configuration in
            configuration.credentialStore = store
            configuration.interceptors.append(TransferHooks(challenge: handler))
        })
    }

    private func status(_ agent: Agent) async throws -> Int {
        try await agent.send(Request<Bytes>(server.url("/"))).status
    }

    @Test func credentialsOfTheProtectionSpaceAreSentOnTheFirstChallenge() async throws {
        let store = CredentialStore()
        #expect(try await status(agent(store)) == 401)
        try await store.set(Self.right, for: space)
        #expect(try await status(agent(store)) == 200)
        #expect(server.requestCount == 3)
        let stream = try await agent(store).stream(Request<Bytes>(server.url("/")))
        #expect(stream.status == 200)
    }

    @Test func hostCredentialsApplyToAllRealmsWithoutTheirOwn() async throws {
        let store = CredentialStore()
        var host = space
        host.realm = nil
        try await store.set(Self.right, for: host)
        #expect(try await status(agent(store)) == 200)
        try await store.set(Self.wrong, for: space)
        #expect(try await store.credentials(for: space) == Self.wrong)
        var other = space
        other.realm = "other"
        #expect(try await store.credentials(for: other) == Self.right)
    }

    @Test func wrongCredentialsAreSentOnceThenRemovedAndReported() async throws {
        let refused = Collected<ProtectionSpace>()
        let store = CredentialStore { refused.append($0) }
        try await store.set(Self.wrong, for: space)
        #expect(try await status(agent(store)) == 401)
        #expect(server.requestCount == 2)
        #expect(refused.values == [space])
        #expect(try await store.spaces().isEmpty)
    }

    @Test func handlerTakesPrecedenceAndReceivesTheStoredCredentials() async throws {
        let store = CredentialStore()
        try await store.set(Self.wrong, for: space)
        let receivedCredentials = Collected<Credentials?>()
        let agent = agent(store) { challenge in
            receivedCredentials.append(challenge.proposed)
            return challenge.previousFailureCount == 0 ? .useDefault : .keep(Self.right)
        }
        #expect(try await status(agent) == 200)
        #expect(receivedCredentials.values == [Self.wrong, nil])
        #expect(try await store.credentials(for: space) == Self.right)
        #expect(try await status(self.agent(store)) == 200)
    }

    @Test func refusedCredentialsAreNotStored() async throws {
        let store = CredentialStore()
        let agent = agent(store) { $0.previousFailureCount == 0 ? .keep(Self.wrong) : .useDefault }
        #expect(try await status(agent) == 401)
        #expect(try await store.credentials(for: space) == nil)
    }

    @Test func credentialsAreSpecificToHostPortAndKind() async throws {
        let store = CredentialStore()
        for other in [
            ProtectionSpace(scheme: "https", host: "127.0.0.1", port: Int(server.port), realm: "nettesting"),
            ProtectionSpace(scheme: "http", host: "localhost", port: Int(server.port), realm: "nettesting"),
            ProtectionSpace(scheme: "http", host: "127.0.0.1", port: 1, realm: "nettesting"),
            ProtectionSpace(scheme: "http", host: "127.0.0.1", port: Int(server.port), realm: "other"),
            ProtectionSpace(
                scheme: "http", host: "127.0.0.1", port: Int(server.port), realm: "nettesting", isProxy: true),
        ] {
            try await store.set(Self.right, for: other)
        }
        #expect(try await status(agent(store)) == 401)
        #expect(server.requestCount == 1)
        #expect(try await store.spaces().count == 5)
    }

    @Test func proxyCredentialsAreThoseOfItsProtectionSpace() async throws {
        let stub = StubTransport { received in
            let isKnown = received.request.proxy.credentials == Self.right
            return isKnown
                ? .text("in")
                : StubReply(status: 407, headers: ["Proxy-Authenticate": "Basic realm=\"p\""], body: [])
        }
        let store = CredentialStore()
        let proxySpace = ProtectionSpace(scheme: "http", host: "proxy", port: 3128, realm: "p", isProxy: true)
        try await store.set(Self.right, for: proxySpace)
        var configuration = Agent.Configuration()
        configuration.proxy = Proxy("http://proxy:3128")
        configuration.credentialStore = store
        let agent = Agent(configuration, transport: stub)
        #expect(try await agent.send(Request<Bytes>("http://h/")).status == 200)
    }

    // MARK: File

    @Test(arguments: [nil, [UInt8](repeating: 7, count: 32)])
    func persistedCredentialsAreOwnerOnlyAndLoadedAgain(key: [UInt8]?) async throws {
        let folder = try TemporaryTree()
        let path = folder.path + "/credentials"
        let first = CredentialStore(folder: path, sealKey: key)
        try await first.set(Self.right, for: space, isKept: true)
        try await first.set(.bearer("t"), for: ProtectionSpace(scheme: "https", host: "h", port: 443))
        let second = CredentialStore(folder: path, sealKey: key)
        #expect(try await second.credentials(for: space) == Self.right)
        #expect(try await second.spaces() == [space])
        #expect(try await status(agent(second)) == 200)
        let files = folder.files
        #expect(!files.isEmpty)
        for file in files {
            #expect(file.mode & 0o077 == 0, "\(file.path)")
            let isReadable = file.bytes.firstRange(of: Array("secret".utf8)) != nil
            #expect(!isReadable || key == nil)
        }
        let other = CredentialStore(folder: path, sealKey: [UInt8](repeating: 8, count: 32))
        #expect(try await other.credentials(for: space) == nil)
        try await second.removeAll()
        #expect(try await CredentialStore(folder: path, sealKey: key).spaces().isEmpty)
    }

    @Test func everyKindOfCredentialsIsLoadedAsItWasStored() async throws {
        let folder = try TemporaryTree()
        let path = folder.path + "/credentials"
        let kinds: [Credentials] = [
            .none, .basic(user: "u", password: "p"), .digest(user: "u", password: "p"), .bearer("t"),
            .ntlm(user: "u", password: "p"), .negotiate(), .negotiate(user: "u", password: "p"),
            .any(user: "u", password: "p"),
        ]
        let spaces = kinds.indices.map { ProtectionSpace(scheme: "https", host: "h", port: $0 + 1) }
        let first = CredentialStore(folder: path)
        for (space, credentials) in zip(spaces, kinds) {
            try await first.set(credentials, for: space, isKept: true)
        }
        let second = CredentialStore(folder: path)
        for (space, credentials) in zip(spaces, kinds) {
            #expect(try await second.credentials(for: space) == credentials)
        }
    }

    @Test func credentialsThatCannotBePersistedAreNotStored() async throws {
        let folder = try TemporaryTree()
        let store = CredentialStore(folder: folder.path + "/credentials")
        try await store.set(Self.right, for: space, isKept: true)
        let (long, other) = (Credentials.bearer(String(repeating: "t", count: 17 << 20)), self.space.withoutRealm)
        for _ in 0..<2 {
            let code = await failureCode { () async throws(NetError) in
                try await store.set(long, for: other, isKept: true)
            }
            #expect(code == .tooLarge)
            #expect(try await store.spaces() == [space])
        }
        // Credentials that a server accepted are kept in memory until the process ends.
        await store.keep(long, for: other)
        #expect(try await store.credentials(for: other) == long)
        #expect(try await CredentialStore(folder: folder.path + "/credentials").spaces() == [space])
    }

    @Test func credentialsSetDuringARefusalAreRetained() async throws {
        let folder = try TemporaryTree()
        let (space, store) = (space, CredentialStore(folder: folder.path + "/credentials"))
        for _ in 0..<50 {
            try await store.set(Self.wrong, for: space, isKept: true)
            async let refused: Void = store.refuse(Self.wrong, for: space)
            try await store.set(Self.right, for: space, isKept: true)
            await refused
            #expect(try await store.credentials(for: space) == Self.right)
        }
    }

    @Test func storeInMemoryPersistsNothing() async throws {
        let store = CredentialStore()
        let space = space
        let code = await failureCode { () async throws(NetError) in
            try await store.set(Self.right, for: space, isKept: true)
        }
        #expect(code == .usage)
    }

    @Test func descriptionsContainNoSecrets() async throws {
        let store = CredentialStore()
        try await store.set(Self.right, for: space)
        var dumped = ""
        dump(store, to: &dumped)
        dump(agent(store).configuration, to: &dumped)
        #expect(!dumped.contains("secret") && !"\(store)".contains("secret"))
        #expect("\(store)" == "CredentialStore(1)")
    }

    @Test func manyTasksCanChangeTheStoreConcurrently() async throws {
        let folder = try TemporaryTree()
        let path = folder.path + "/credentials"
        let store = CredentialStore(folder: path)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for port in 1...10 {
                group.addTask {
                    try await store.set(
                        Self.right, for: ProtectionSpace(scheme: "http", host: "h", port: port), isKept: true)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await CredentialStore(folder: path).spaces().count == 10)
    }

    @Test(arguments: [
        ("http://H:80/x", "http", "h", 80), ("https://h", "https", "h", 443),
        ("http://[::1]:8080/", "http", "[::1]", 8080),
        ("https://[::1]/", "https", "[::1]", 443), ("http://u:p@h:81/?a:b", "http", "h", 81),
    ])
    func protectionSpaceIsParsedFromAURL(url: String, scheme: String, host: String, port: Int) throws {
        let space = try #require(ProtectionSpace(url: url, realm: "r"))
        #expect(space == ProtectionSpace(scheme: scheme, host: host, port: port, realm: "r"))
    }

    @Test(arguments: ["", "/path", "http://", "h:80"])
    func urlWithoutAHostHasNoProtectionSpace(url: String) {
        #expect(ProtectionSpace(url: url) == nil)
    }
}
