import NetKit
import NetKitTesting
import Testing

/// Chains of steps, each with the values of the previous ones.
@Suite(.timeLimit(.minutes(5)))
struct ChainStepsTests {
    private struct Refused: Error {}

    private let stub = StubTransport()
    private let gate = StubGate()

    private var agent: Agent { Agent(.init(baseURL: "http://stub"), transport: stub) }

    private func text(_ path: String) -> Request<String> { Request(path) }

    private func failure(of chain: some SendableOperation, _ agent: Agent) async -> NetError? {
        do throws(NetError) {
            _ = try await agent.send(chain)
            return nil
        } catch {
            return error
        }
    }

    @Test func eachStepReceivesEarlierValuesWithTheirTypes() async throws {
        stub.register("/login", with: .json(#"{"id": 7}"#))
        stub.register("/users/7/tags", with: .json(#"["a", "b"]"#))
        stub.register("/tags/b/of/7", with: .text("last"))
        struct User: Decodable, Sendable { let id: Int }
        let chain = Chain(Request<User>("login")).then { user in
            Request<[String]>("users/\(user.id)/tags")
        }.then { user, tags in
            let tag = tags[1]
            return text("tags/\(tag)/of/\(user.id)")
        }
        let (user, tags, last) = try await agent.send(chain).values
        #expect(user.id == 7)
        #expect(tags == ["a", "b"])
        #expect(last == "last")
        #expect(chain.count == 3)
    }

    @Test func stepCanReceiveSixValues() async throws {
        stub.register("*", with: .text("x"))
        let chain = Chain(text("/0")).then { a in text("/1\(a)") }.then { a, b in text("/2\(a)\(b)") }
            .then { _, _, c in text("/3\(c)") }.then { _, _, _, d in text("/4\(d)") }
            .then { _, _, _, _, e in text("/5\(e)") }.then { _, _, _, _, _, f in text("/6\(f)") }
        let values = try await agent.send(chain).values
        #expect(values.6 == "x")
        #expect(stub.requests.map(\.path) == ["/0", "/1x", "/2xx", "/3x", "/4x", "/5x", "/6x"])
    }

    @Test func oneParameterReceivesAllValues() async throws {
        stub.register("*", with: .text("x"))
        let chain = Chain(text("/0")).then { _ in text("/1") }.then { all in text("/\(all.0)\(all.1)") }
        let values: ((String, String), String) = try await agent.send(chain).values
        #expect(values.0.1 == "x")
        #expect(stub.requests.last?.path == "/xx")
    }

    @Test func chainCanHaveOneStep() async throws {
        stub.register("/a", with: .text("a"))
        #expect(try await agent.send(Chain(text("/a"))).values == "a")
    }

    @Test func stepCanReceiveWholeResponses() async throws {
        stub.register("/a", with: StubReply(status: 201, headers: ["Location": "/made/3"]))
        stub.register("/made/3", with: .text("3"))
        let chain = Chain(Request<Void>("/a", method: .post).withResponse).then { made in
            text(made.headers["Location"] ?? "/none")
        }
        #expect(try await agent.send(chain).values.1 == "3")
    }

    /// In YTKNetwork, chains grow in the callbacks of their steps (ReqT.testChainRequest).
    @Test func runningStepCanAddSteps() async throws {
        stub.register("*", with: .text("x"))
        let chain = Chain(text("/1")).then { _ in
            Chain(text("/2")).then { _ in Chain(text("/3")).then { _ in text("/4") } }
        }
        _ = try await agent.send(chain)
        #expect(stub.requests.map(\.path) == ["/1", "/2", "/3", "/4"])
    }

    @Test func failureStopsTheRemainingStepsAndNamesTheStep() async throws {
        stub.register("/b", with: .status(404))
        stub.register("*", with: .text("x"))
        let callCount = Counter()
        let chain = Chain(text("/a"), name: "first").then("second") { _ in text("/b") }.then { _, _ in
            callCount.increment()
            return text("/c")
        }
        let failed = await failure(of: chain, agent)
        #expect(failed?.code == .status)
        #expect(failed?.failedMember?.index == 1)
        #expect(failed?.failedMember?.name == "second")
        #expect(failed?.message == "step 1 \"second\": status 404 from http://stub/b")
        #expect(callCount.value == 0)
        #expect(stub.requests.map(\.path) == ["/a", "/b"])
    }

    @Test func failureOfTheFirstStepNamesIt() async throws {
        stub.register("/a", with: .failure(.refused))
        var request = text("/a")
        request.tag = 4
        let failed = await failure(of: Chain(request, name: "first").then { _ in text("/b") }, agent)
        #expect(failed?.code == .refused)
        #expect(failed?.failedMember?.index == 0)
        #expect(failed?.failedMember?.name == "first")
        #expect(failed?.failedMember?.tag == 4)
    }

    @Test func errorThrownByAStepIsItsFailure() async throws {
        stub.register("*", with: .text("x"))
        let ours = Chain(text("/a")).then { _ -> Request<String> in throw NetError(.badParameter, "no name") }
        #expect(await failure(of: ours, agent)?.code == .badParameter)
        let theirs = Chain(text("/a")).then { _ -> Request<String> in throw Refused() }
        let failed = await failure(of: theirs, agent)
        #expect(failed?.code == .stoppedByCaller)
        #expect(failed?.failedMember?.index == 1)
        #expect(failed?.failedMember?.error.underlying is Refused)
        #expect(stub.requests.map(\.path) == ["/a", "/a"])
    }

    @Test func cancelledTaskEndsTheChainWithoutNamingAStep() async throws {
        stub.register("/b", with: .text("x").held(by: gate))
        stub.register("*", with: .text("x"))
        let agent = agent
        let chain = Chain(text("/a")).then { _ in text("/b") }.then { _, _ in text("/c") }
        let task = Task { await failure(of: chain, agent) }
        try await gate.waitForArrivals(1)
        task.cancel()
        let error = await task.value
        #expect(error?.code == .cancelled)
        #expect(error?.failedMember == nil)
        #expect(stub.requests.map(\.path) == ["/a", "/b"])
    }

    @Test func taskCancelledBetweenStepsSendsNoFurtherRequest() async throws {
        stub.register("*", with: .text("x"))
        let agent = agent
        let chain = Chain(text("/a")).then { _ in
            while !Task.isCancelled { await Task.yield() }
            return text("/b")
        }
        let task = Task { await failure(of: chain, agent) }
        try await stub.waitForRequests(1)
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        #expect(stub.requests.map(\.path) == ["/a"])
    }

    @Test func chainIsFromTheCacheOnlyIfAllStepsAre() async throws {
        let (cached, sent) = (ConstantOperation(), ConstantOperation(isFromCache: false))
        #expect(try await agent.send(Chain(cached).then { _ in cached }).isFromCache)
        #expect(try await !agent.send(Chain(cached).then { _ in sent }).isFromCache)
        #expect(try await !agent.send(Chain(sent).then { _ in cached }).isFromCache)
    }

    @Test func aChainCanBeSentAgain() async throws {
        stub.register("*", with: .text("1"), .text("2"), .text("3"), .text("4"))
        let chain = Chain(text("/")).then { _ in text("/") }
        #expect(try await agent.send(chain).values == ("1", "2"))
        #expect(try await agent.send(chain).values == ("3", "4"))
    }
}
