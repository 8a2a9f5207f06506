import NetKit
import Testing

struct ServiceClassTests {
    @Test(arguments: [
        ("ef", 46), ("EF", 46), ("cs1", 8), ("cs7", 56), ("af11", 10), ("af21", 18), ("af43", 38), ("le", 1),
        ("63", 63),
        ("1", 1),
    ])
    func serviceClassIsParsedByName(name: String, value: UInt8) {
        #expect(ServiceClass(name: name)?.codePoint == value)
    }

    @Test(arguments: [
        "", "0", "64", "-1", "256", "cs0", "cs8", "cs", "af", "af10", "af14", "af51", "af1", "ef1", "e", "é1",
    ])
    func unknownServiceClassIsRejected(name: String) {
        #expect(ServiceClass(name: name) == nil)
    }

    @Test func namedClassesHaveTheCodePointsOfTheirRFCs() {
        let classes: [ServiceClass] = [.background, .signalling, .responsiveData, .video, .voice, .dscp(34)]
        #expect(classes.map(\.codePoint) == [8, 40, 18, 26, 46, 34])
    }

    @Test func codePointAbove63FailsTheCall() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply())
        var request = Request<Bytes>(server.url("/"))
        for codePoint in [64, 255] as [UInt8] {
            request.serviceClass = .dscp(codePoint)
            #expect(await ending(of: request, from: Agent()) == .failed(.usage))
        }
        let agent = Agent(configured: { $0.serviceClass = .dscp(64) })
        #expect(await ending(of: Request<Bytes>(server.url("/")), from: agent) == .failed(.usage))
        #expect(server.requestCount == 0)
        request.serviceClass = .dscp(63)
        #expect(try await Agent().send(request).status == 200)
    }

    @Test func codePoint0OverridesTheClassOfTheAgent() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply())
        let agent = Agent(configured: { $0.serviceClass = .voice })
        var request = Request<Bytes>(server.url("/"))
        for serviceClass in [nil, .dscp(46), .dscp(0)] as [ServiceClass?] {
            request.serviceClass = serviceClass
            _ = try await agent.send(request)
        }
        // The class of the agent and its number share the first connection.
        #expect(server.connectionCount == 2)
    }

    @Test func serviceClassesDoNotShareConnections() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply())
        let agent = Agent(configured: { $0.serviceClass = .background })
        var request = Request<Bytes>(server.url("/"))
        _ = try await agent.send(request)
        _ = try await agent.send(request)
        #expect(server.connectionCount == 1)
        request.serviceClass = .voice
        _ = try await agent.send(request)
        #expect(server.connectionCount == 2)
        request.serviceClass = .background
        _ = try await agent.send(request)
        #expect(server.connectionCount == 2)
    }
}
