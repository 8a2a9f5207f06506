import NetKit
import NetKitTesting
import Testing

struct ServiceConcurrencyTests {
    private let stub = StubTransport()

    private func service(_ count: Int, time: TimeSource = .system) -> Service {
        var configuration = Service.Configuration(baseURLs: [.release: "http://a"])
        configuration.maxInFlight = count
        configuration.time = time
        return Service("a", configuration)
    }

    private func request(_ service: Service, _ path: String = "x", _ priority: Priority = .normal) -> Request<Bytes> {
        var request = Request<Bytes>(path)
        request.service = service
        request.priority = priority
        return request
    }

    private func reach(_ count: Int, waitingFor service: Service) async {
        while service.waitingCount < count {
            await Task.yield()
        }
    }

    // In HZYNetwork the limit had no effect (H2).
    @Test func concurrentCallsDoNotExceedTheLimit() async throws {
        let agent = Agent(transport: stub)
        let gate = StubGate()
        stub.register("*", with: .status(204).held(by: gate))
        let service = service(3)
        let ends = await withTaskGroup(of: Ending.self) { group in
            for _ in 0..<20 {
                group.addTask { await ending(of: request(service), from: agent) }
            }
            await reach(17, waitingFor: service)
            try? await gate.waitForArrivals(3)  // All three slots are taken.
            #expect(gate.arrivalCount == 3)
            gate.open()
            var ends: [Ending] = []
            for await end in group {
                ends.append(end)
            }
            return ends
        }
        #expect(ends == Array(repeating: .answered, count: 20))
        #expect(gate.arrivalCount == 20)
    }

    @Test func waitingCallsStartByPriorityThenInOrder() async throws {
        let agent = Agent(transport: stub)
        let gate = StubGate()
        stub.register("/first", with: .status(204).held(by: gate))
        stub.register("*", with: .status(204))
        let service = service(1)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = try? await agent.send(request(service, "first")) }
            try? await gate.waitForArrivals(1)
            let waiting = [("low", Priority.low), ("n1", .normal), ("high", .high), ("n2", .normal)]
            for (number, (path, priority)) in waiting.enumerated() {
                group.addTask { _ = try? await agent.send(request(service, path, priority)) }
                await reach(number + 1, waitingFor: service)
            }
            gate.open()
        }
        #expect(stub.requests.map(\.path) == ["/first", "/high", "/n1", "/n2", "/low"])
    }

    @Test func cancelledCallLeavesTheQueueAndHoldsNoPermit() async throws {
        let agent = Agent(transport: stub)
        let gate = StubGate()
        stub.register("/first", with: .status(204).held(by: gate))
        stub.register("*", with: .status(204))
        let service = service(1)
        let first = Task { await ending(of: request(service, "first"), from: agent) }
        try await gate.waitForArrivals(1)
        let waiting = (0..<10).map { _ in Task { await ending(of: request(service), from: agent) } }
        await reach(10, waitingFor: service)
        for task in waiting {
            task.cancel()
        }
        for task in waiting {
            #expect(await task.value == .failed(.cancelled))
        }
        gate.open()
        #expect(await first.value == .answered)
        #expect(await ending(of: request(service), from: agent) == .answered)
        #expect(stub.requests.map(\.path) == ["/first", "/x"])
    }

    @Test func cancellingAtAnyTimeLosesNoPermit() async throws {
        let agent = Agent(transport: stub)
        stub.register("*", with: .status(204))
        let service = service(2)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                group.addTask {
                    let task = Task { await ending(of: request(service), from: agent) }
                    for _ in 0..<number % 7 {
                        await Task.yield()
                    }
                    if number % 2 == 0 {
                        task.cancel()
                    }
                    let end = await task.value
                    #expect(end == .answered || number % 2 == 0)
                }
            }
        }
        for _ in 0..<4 {
            #expect(await ending(of: request(service), from: agent) == .answered)
        }
    }

    @Test func waitingForAPermitTimesOut() async throws {
        let agent = Agent(transport: stub)
        let gate = StubGate()
        stub.register("/first", with: .status(204).held(by: gate))
        let time = StubTime()
        let service = service(1, time: time.source)
        let first = Task { await ending(of: request(service, "first"), from: agent) }
        try await gate.waitForArrivals(1)
        #expect(await ending(of: request(service), from: agent) == .failed(.slotTimeout))
        #expect(time.waits == [.seconds(60)])
        gate.open()
        #expect(await first.value == .answered)
    }

    @Test func failuresReleaseTheirPermit() async throws {
        let agent = Agent(transport: stub)
        stub.register("*", with: .failure(.reset))
        let service = service(1)
        for _ in 0..<3 {
            #expect(await ending(of: request(service), from: agent) == .failed(.reset))
        }
    }

    @Test func streamHoldsItsPermitUntilItIsReadOrReleased() async throws {
        let agent = Agent(transport: stub)
        stub.register("*", with: .text("body"))
        let service = service(1)
        var stream: ResponseStream? = try await agent.stream(request(service))
        let second = Task { await ending(of: request(service), from: agent) }
        await reach(1, waitingFor: service)
        #expect(stub.requests.count == 1)
        #expect(try await stream?.collect(upTo: 10).text == "body")
        #expect(await second.value == .answered)
        stream = try await agent.stream(request(service))
        stream = nil
        #expect(await ending(of: request(service), from: agent) == .answered)
    }
}
