import NetKit
import Testing

struct ServiceClassTests {
    @Test(arguments: [
        ("ef", 46), ("EF", 46), ("cs1", 8), ("cs7", 56), ("af11", 10), ("af21", 18), ("af43", 38), ("le", 1),
        ("63", 63),
        ("1", 1),
    ])
    func serviceClassIsParsedByName(name: String, value: UInt8) {
        #expect(ServiceClass(name: name)?.rawValue == value)
    }

    @Test(arguments: [
        "", "0", "64", "-1", "256", "cs0", "cs8", "cs", "af", "af10", "af14", "af51", "af1", "ef1", "e", "é1",
    ])
    func unknownServiceClassIsRejected(name: String) {
        #expect(ServiceClass(name: name) == nil)
    }

    @Test func dscpIsFrom1To63() {
        #expect(ServiceClass(rawValue: 0) == nil && ServiceClass(rawValue: 64) == nil)
        #expect(ServiceClass(rawValue: 46) == .voice)
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
