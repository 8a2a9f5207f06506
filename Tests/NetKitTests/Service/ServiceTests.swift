import NetKit
import NetKitCompat
import NetKitTesting
import Testing

struct ServiceTests {
    private let stub = StubTransport { _ in .json("{}") }

    private func service(
        _ name: String = "a", _ change: (inout Service.Configuration) -> Void = { _ in }
    ) -> Service {
        var configuration = Service.Configuration(
            baseURLs: [
                .develop: "http://dev.\(name)", .releaseCandidate: "http://rc.\(name)", .release: "http://\(name)",
            ])
        change(&configuration)
        return Service(name, configuration)
    }

    private func request(_ service: Service, _ path: String = "x", parameters: Parameters? = nil) -> Request<Bytes> {
        var request = Request<Bytes>(path, parameters: parameters)
        request.service = service
        return request
    }

    private func sent(_ request: Request<Bytes>, by agent: Agent? = nil) async throws(NetError) -> StubRequest? {
        let plain = Agent(.init(baseURL: "http://agent"), transport: stub)
        _ = try await (agent ?? plain).send(request)
        return stub.requests.last
    }

    @Test func environmentCanBeSwitchedAtRuntime() async throws {
        let service = service { $0.baseURLs["staging"] = "http://staging.a" }
        #expect(try await sent(request(service))?.url == "http://a/x")
        for (environment, url) in [
            (Environment.develop, "http://dev.a/x"), (.releaseCandidate, "http://rc.a/x"),
            ("staging", "http://staging.a/x"), (.release, "http://a/x"),
        ] {
            service.environment = environment
            #expect(service.environment == environment)
            #expect(try await sent(request(service))?.url == url)
        }
    }

    // In YTKNetwork and CTNetworking services share global state (Y16, C1).
    @Test func servicesAreIndependent() async throws {
        let first = service("a")
        let second = service("b") { $0.environment = .develop }
        first.environment = .releaseCandidate
        #expect(try await sent(request(first))?.url == "http://rc.a/x")
        #expect(try await sent(request(second))?.url == "http://dev.b/x")
        #expect(try await sent(Request<Bytes>("x"))?.url == "http://agent/x")
    }

    @Test func switchingFromManyTasksIsSafe() async throws {
        let service = service()
        let stub = stub
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask {
                    service.environment = number % 2 == 0 ? .develop : .release
                    _ = try? await Agent(transport: stub).send(request(service))
                }
            }
        }
        #expect(stub.requests.count == 100)
        #expect(Set(stub.requests.map(\.url)).isSubset(of: ["http://dev.a/x", "http://a/x"]))
    }

    @Test func environmentWithoutABaseURLIsReported() async throws {
        let service = service()
        service.environment = "nowhere"
        let code = await failureCode { () async throws(NetError) in _ = try await sent(request(service)) }
        #expect(code == .usage)
        #expect(stub.requests.isEmpty)
        #expect(try await sent(request(service, "http://there/x"))?.url == "http://there/x")
        var otherOrigin = request(service)
        otherOrigin.baseURL = "http://own"
        #expect(try await sent(otherOrigin)?.url == "http://own/x")
    }

    @Test func serviceWithoutBaseURLsUsesTheBaseOfTheAgent() async throws {
        #expect(try await sent(request(Service("a")))?.url == "http://agent/x")
    }

    @Test func versionIsInsertedBetweenBaseAndPath() async throws {
        for base in ["http://a/api", "http://a/api/"] {
            let service = service {
                $0.baseURLs[.release] = base
                $0.version = "v2"
            }
            #expect(try await sent(request(service, "cities/hot"))?.url == "http://a/api/v2/cities/hot")
            var onCDN = request(service, "logo")
            onCDN.baseURL = "http://cdn"
            #expect(try await sent(onCDN)?.url == "http://cdn/logo")
        }
        #expect(try await sent(request(service { $0.version = "" }))?.url == "http://a/x")
    }

    @Test func serviceFieldsAndParametersOverrideTheAgentsButNotTheRequests() async throws {
        var configuration = Agent.Configuration(headers: ["A": "agent", "B": "agent", "C": "agent", "D": "agent"])
        configuration.userAgent = nil
        configuration.parameters = ["a": "agent", "b": "agent", "c": "agent", "d": "agent"]
        configuration.computedParameters = { _ in ["b": "computed by the agent"] }
        let agent = Agent(configuration, transport: stub)
        let service = service {
            $0.headers = ["A": "service", "B": "service", "S": "service"]
            $0.computedHeaders = { _ in ["S": "computed"] }
            $0.parameters = ["a": "service", "b": "service", "s": "service"]
            $0.computedParameters = { _ in ["s": "computed"] }
        }
        var asking = request(service, parameters: ["a": "own"])
        asking.headers = ["A": "own"]
        let sentRequest = try await sent(asking, by: agent)
        #expect(sentRequest?.query == "a=own&b=computed%20by%20the%20agent&c=agent&d=agent&s=computed")
        #expect(sentRequest?.headers == ["A": "own", "S": "computed", "B": "service", "C": "agent", "D": "agent"])
    }

    // In HZYNetwork "add" joined values with a comma, and "replace" was then ignored (H12).
    @Test func replacingHeadersDropsAllOtherFields() async throws {
        var asking = request(
            service {
                $0.headers = ["A": "service"]
                $0.replacingHeaders = ["Only": "this"]
            })
        asking.headers = ["A": "own"]
        #expect(try await sent(asking)?.headers == ["Only": "this"])
        asking.service = service { $0.headers = ["A": "service"] }
        #expect(try await sent(asking)?.headers.values(named: "A") == ["own"])
    }

    @Test func serviceLimitsAndOptionsAreDefaultsForRequests() async throws {
        enum Color: RequestOption { static let defaultValue = "none" }
        var limits = Limits()
        limits.total = .seconds(3)
        let service = service {
            $0.limits = limits
            $0[Color.self] = "red"
        }
        #expect(service.configuration[Color.self] == "red")
        let sentRequest = try await sent(request(service))
        #expect(sentRequest?.request.limits.equals(limits) == true)
        #expect(sentRequest?.request[Color.self] == "red")
        _ = try await Agent(transport: stub).stream(request(service)).collect(upTo: 10)
        #expect(stub.requests.last?.request.limits.equals(.streaming) == true)
        var own = request(service)
        own.limits.connect = .seconds(1)
        own[Color.self] = "blue"
        limits.connect = .seconds(1)
        #expect(try await sent(own)?.request.limits.equals(limits) == true)
        #expect(stub.requests.last?.request[Color.self] == "blue")
    }

    @Test func parametersAreAdjustedAfterValidation() async throws {
        let receivedParameters = Collected<Parameters?>()
        var asking = request(
            service {
                $0.parameters = ["v": 1]
                $0.adjustParameters = { parameters, _ in
                    var parameters = parameters ?? [:]
                    parameters["session"] = "s"
                    parameters["own"] = nil
                    return parameters
                }
            }, parameters: ["own": 1, "b": 2])
        asking.interceptors = [ValidateParameters { parameters, _ in receivedParameters.append(parameters) }]
        #expect(try await sent(asking)?.query == "b=2&session=s&v=1")
        #expect(receivedParameters.values == [["own": 1, "b": 2]])
        asking.method = .post
        #expect(try await sent(asking)?.body.text == "b=2&session=s&v=1")
        asking.parameters = nil
        #expect(try await sent(asking)?.body.text == "session=s&v=1")
        asking.body = .text("own body")
        #expect(try await sent(asking)?.query == "session=s&v=1")
    }

    @Test func errorThrownByAdjustingFailsTheCall() async throws {
        struct Locked: Error {}
        let asking = request(service { $0.adjustParameters = { _, _ in throw Locked() } })
        let error = await #expect(throws: NetError.self) { try await sent(asking) }
        #expect(error?.code == .badParameter && error?.underlying is Locked)
        #expect(stub.requests.isEmpty)
    }

    @Test func serviceValidatesResponsesAndMapsErrors() async throws {
        struct Refused: Error { let reason: Int }
        let events = Collected<NetError.Code>()
        struct RecordingObserver: Observer {
            let events: Collected<NetError.Code>
            func observe(_ event: Event) {
                if case .stopping(.failed(let error)) = event.change { events.append(error.code) }
            }
        }
        let service = service {
            $0.judge = { response in
                if response.headers["X-Code"] == "3" { throw Refused(reason: 3) }
            }
            $0.mapError = { error in
                guard let refused = error.underlying as? Refused else {
                    return error.code == .status ? NetError(.circuitOpen, "down") : error
                }
                return NetError(.authentication, "reason \(refused.reason)", response: error.response)
            }
        }
        stub.register("*", with: StubReply(headers: ["X-Code": "3"]), .status(503), .json("{}"))
        var asking = request(service)
        asking.acceptedStatuses = 200..<300
        asking.observers = [RecordingObserver(events: events)]
        let agent = Agent(transport: stub)
        let error = await #expect(throws: NetError.self) { try await agent.send(asking) }
        #expect(error?.code == .authentication && error?.message == "reason 3" && error?.response?.status == 200)
        #expect(await ending(of: asking, from: agent) == .failed(.circuitOpen))
        #expect(await ending(of: asking, from: agent) == .answered)
        #expect(events.values == [.authentication, .circuitOpen])
    }

    @Test func serviceInterceptorsRunBetweenAgentAndRequestInterceptors() async throws {
        let log = Collected<String>()
        var configuration = Agent.Configuration()
        configuration.interceptors = [Probe(name: "agent", log: log)]
        var asking = request(
            service {
                $0.interceptors = [Probe(name: "service", log: log)]
                $0.signing = [Probe(name: "signing", log: log)]
                $0.judge = { _ in log.append("judge") }
            })
        asking.interceptors = [Probe(name: "own", log: log)]
        _ = try await sent(asking, by: Agent(configuration, transport: stub))
        #expect(
            log.values == [
                "agent out send", "service out send", "own out send", "signing out send", "signing back 200", "judge",
                "own back 200", "service back 200", "agent back 200",
            ])
    }

    @Test func eachAttemptIsSignedAgain() async throws {
        stub.register("*", with: .status(503), .json("{}"))
        let time = StubTime(epochSeconds: 1000)
        var configuration = Agent.Configuration()
        configuration.interceptors = [Retry(time: time.source)]
        let asking = request(
            service { $0.signing = [RequestSigning(keyID: "k", key: [1], time: time.source)] })
        _ = try await sent(asking, by: Agent(configuration, transport: stub))
        #expect(stub.requests.count == 2)
        #expect(stub.requests.allSatisfy { $0.headers.values(named: "X-Signature").count == 1 })
    }

    @Test func anEndpointNamesItsService() async throws {
        struct Hot: Endpoint {
            typealias Value = JSONValue
            let path = "hot"
            let service: Service?
        }
        let agent = Agent(transport: stub)
        _ = try await agent.send(Hot(service: service { $0.version = "v1" }))
        #expect(stub.requests.last?.url == "http://a/v1/hot")
    }

    @Test func serviceWorksWithTheEngine() async throws {
        let server = try LoopbackServer()
        server.script("/v1/x", .json("[1]"))
        let service = Service("local", .init(baseURLs: [.release: server.url("/")]))
        var configuration = service.configuration
        configuration.version = "v1"
        configuration.signing = [MD5Signing(publicKey: "app", privateKey: "key")]
        var request = Request<[Int]>("x", parameters: ["a": 1])
        request.service = Service("local", configuration)
        #expect(try await Agent().send(request).value == [1])
        let signature = try Digest.of(Bytes(Array("a=1key".utf8)), .md5).hexText
        #expect(server.received().requestLine == "GET /v1/x?a=1&sig=\(signature) HTTP/1.1")
    }
}
