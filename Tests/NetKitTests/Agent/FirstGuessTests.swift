import FoundationEssentials
import NetKit
import NetKitTesting
import Testing

/// The names and types that a Swift programmer tries first. Most tests only have to compile; the others check what a
/// server receives.
struct FirstGuessTests {
    private struct City: Codable, Sendable, Equatable { var name = "Oslo" }

    @Test func agentAcceptsItsBaseURLAsTextAndAsURL() async throws {
        let server = try LoopbackServer()
        server.script("/v1/a", .json(#"{"name":"Oslo"}"#))
        let url = try #require(URL(string: server.url("/v1")))
        for agent in [Agent(baseURL: server.url("/v1")), Agent(baseURL: url), Agent(.init(baseURL: url))] {
            #expect(try await agent.get("a", as: City.self).value == City())
            await agent.shutdown()
        }
        let agent = Agent()
        #expect(try await agent.send(Request<City>(url.appending(path: "a"))).value == City())
        #expect(try await agent.get(url.appending(path: "a"), as: City.self).value == City())
        await agent.shutdown()
        #expect(Agent.Configuration(baseURL: URL(string: "http://h")).baseURL == "http://h")
        #expect(Service.Configuration(baseURL: url).baseURLs == [.release: server.url("/v1")])
    }

    @Test func jsonRequestSendsAcceptUnlessTheCallerDoes() async throws {
        let server = try LoopbackServer()
        server.script("/a", .json(#"{"name":"Oslo"}"#))
        let (plain, chained) = (Agent(), Agent(configured: { $0.interceptors = [Retry()] }))
        var index = 0
        func accepted(_ send: () async throws -> Void) async throws -> [String] {
            try await send()
            defer { index += 1 }
            return server.received(index).values(named: "Accept")
        }
        let url = server.url("/a")
        for agent in [plain, chained] {
            #expect(try await accepted { _ = try await agent.send(Request<City>(url)) } == ["application/json"])
            #expect(try await accepted { _ = try await agent.get(url) } == ["application/json"])
            #expect(
                try await accepted { _ = try await agent.send(Request<City>(url, headers: ["accept": "a/b"])) } == [
                    "a/b"
                ])
            var other = Request<City>(url)
            other.acceptedTypes = ["application/vnd.api+json", "text/plain", "*+json", "*/json"]
            #expect(try await accepted { _ = try? await agent.send(other) } != ["application/json"])
            #expect(try await accepted { _ = try await agent.send(Request<String>(url)) } != ["application/json"])
        }
        let xml = Agent(configured: { $0.headers["Accept"] = "text/xml" })
        #expect(try await accepted { _ = try await xml.send(Request<City>(url)) } == ["text/xml"])
        for agent in [plain, chained, xml] {
            await agent.shutdown()
        }
    }

    @Test func credentialsOfTheAgentGoOnlyToItsOrigins() async throws {
        let (home, foreign) = (try LoopbackServer(), try LoopbackServer())
        for server in [home, foreign] {
            server.script("/a", .text("ok"))
        }
        home.script("/away", .redirect(to: foreign.url("/a")))
        for interceptors in [[], [Retry()]] as [[any Interceptor]] {
            home.forgetRequests()
            foreign.forgetRequests()
            var configuration = Agent.Configuration(baseURL: home.url("/"))
            configuration.credentials = .bearer("token")
            configuration.interceptors = interceptors
            let agent = Agent(configuration)
            var own = Request<String>("a")
            own.credentials = .bearer("own")
            for request in [
                Request<String>("a"), own, Request<String>("a", headers: ["Authorization": "mine"]),
                Request<String>("away"),
                Request<String>(foreign.url("/a")),
            ] {
                _ = try await agent.send(request)
            }
            let sent = (0..<4).map { home.received($0).values(named: "Authorization") }
            #expect(sent == [["Bearer token"], ["Bearer own"], ["mine"], ["Bearer token"]])
            #expect((0..<2).allSatisfy { foreign.received($0).values(named: "Authorization").isEmpty })
            await agent.shutdown()
        }
    }

    @Test func agentAcceptsTheCommonSettings() async throws {
        let server = try LoopbackServer()
        server.script("/a", .json(#"{"name":"Oslo"}"#))
        let agent = Agent(
            baseURL: server.url("/"), headers: ["X-Device": "42"], credentials: .bearer("token"), timeout: .seconds(7),
            interceptors: [Retry(maxRetries: 1)])
        #expect(try await agent.get("a", as: City.self).value == City())
        #expect(server.received(0).values(named: "X-Device") == ["42"])
        #expect(server.received(0).values(named: "Authorization") == ["Bearer token"])
        #expect(agent.configuration.timeout == .seconds(7) && agent.configuration.interceptors.count == 1)
        await agent.shutdown()
        #expect(Agent(baseURL: "http://h").configuration.timeout == Limits().total)
    }

    @Test func oneLineCallAcceptsATimeout() async throws {
        let stub = StubTransport { _ in .json("{}") }
        let (agent, number) = (Agent(.init(baseURL: "http://h"), transport: stub), 4)
        try await agent.get("a", timeout: .seconds(3))
        try await agent.post("a", parameters: ["number": number], timeout: .seconds(4))
        try await agent.head("a", timeout: .seconds(5))
        try await agent.get("a")
        #expect(stub.requests.map(\.request.timeout) == [.seconds(3), .seconds(4), .seconds(5), Limits().total])
    }

    @Test func literalIsAProxy() {
        var configuration = Agent.Configuration()
        configuration.proxy = "http://proxy.example.com:3128"
        #expect(configuration.proxy == Proxy("http://proxy.example.com:3128"))
    }

    @Test func timeoutIsTheTotalLimit() {
        var configuration = Agent.Configuration()
        configuration.timeout = .seconds(5)
        #expect(configuration.limits.total == .seconds(5))
        var service = Service.Configuration()
        service.timeout = .seconds(6)
        #expect(service.limits.total == .seconds(6))
        configuration.timeout = nil
        #expect(configuration.limits.total == nil)
    }

    @Test(arguments: [
        ("a/b ü", "a%2Fb%20%C3%BC"), ("50%?#&=+:@;,!$'()*", "50%25%3F%23%26%3D%2B%3A%40%3B%2C%21%24%27%28%29%2A"),
        ("aZ09-._~", "aZ09-._~"), (".", "%2E"), ("..", "%2E%2E"), ("...", "..."), ("", ""), ("\u{0}\n", "%00%0A"),
        ("😀", "%F0%9F%98%80"),
    ])
    func pathSegmentIsPercentEncoded(text: String, expected: String) async throws {
        #expect(text.pathSegment == expected)
        let stub = StubTransport { _ in .text("") }
        let agent = Agent(.init(baseURL: "http://h/v1"), transport: stub)
        _ = try await agent.send(Request<String>("cities/\(text.pathSegment)/x"))
        #expect(stub.requests.first?.url == "http://h/v1/cities/\(expected)/x")
    }

    @Test func filesAreNamedByPathAndByURL() async throws {
        let (server, agent, folder) = (try LoopbackServer(), Agent(), try TemporaryFolder())
        server.script("/a", .text("content"))
        server.script("/echo", .echo)
        let file = URL(filePath: folder.path + "/a b.txt")
        _ = try await agent.download(Request<Bytes>(server.url("/a")), to: file)
        let other = URL(filePath: folder.path + "/c d.txt")
        _ = try await agent.download(Request<Bytes>(server.url("/a")), to: other)
        for body in [Body.file(file), .file(other), .file(folder.path + "/a b.txt")] {
            #expect(
                try await agent.send(Request<String>(server.url("/echo"), method: .post, body: body)).value == "content"
            )
        }
        let web = Body.file(try #require(URL(string: "http://h/a")))
        let error = await #expect(throws: NetError.self) {
            try await agent.send(Request<String>(server.url("/echo"), method: .post, body: web))
        }
        #expect(error?.code == .file)
        await agent.shutdown()
    }

    @Test func bytesOfEveryTypeAreBodiesPartsAndValues() async throws {
        let stub = StubTransport { request in
            .bytes(request.body, contentType: "application/octet-stream")
        }
        let agent = Agent(.init(baseURL: "http://h"), transport: stub)
        let (array, bytes) = ([UInt8]("sent".utf8), Bytes([UInt8]("sent".utf8)))
        let data = Data(array)
        for body in [Body(data), Body(array), Body(bytes), .data(data), .data(array), .data(bytes, contentType: "a/b")]
        {
            #expect(try await agent.post("a", as: Data.self, body: body).value == data)
            #expect(try await agent.post("a", as: [UInt8].self, body: body).value == array)
            #expect(try await agent.post("a", as: Bytes.self, body: body).value == bytes)
        }
        var form = MultipartBody(boundary: "b")
        form.append(data, name: "data")
        form.append(array, name: "array")
        form.append(bytes, name: "bytes")
        form.append(.data(data), name: "file", filename: "a.bin")
        form.append(["n": array.count, "q": "x"])
        let text = try await agent.post("a", as: String.self, body: .multipart(form)).value
        #expect(text.components(separatedBy: "\r\n\r\nsent\r\n").count == 5)
        #expect(try Body.json(["blob": data]).bytes.text == #"{"blob":"c2VudA=="}"#)
        #expect(try Body.json(["blob": bytes]).bytes.text == #"{"blob":"c2VudA=="}"#)
    }

    @Test func outcomeOfARequestCanBeAResult() async throws {
        let stub = StubTransport { _ in Response(status: 500) }
        let agent = Agent(.init(baseURL: "http://h"), transport: stub)
        let task = Task { await agent.result(Request<City>("a")) }
        switch await task.value {
        case .success: Issue.record("the request succeeded")
        case .failure(let error): #expect(error.code == .status && error.status == 500)
        }
        let code = await Task {
            do throws(NetError) {
                _ = try await agent.get("a")
                return NetError.Code.internal
            } catch {
                return error.code
            }
        }.value
        #expect(code == .status)
    }
}
