import NetKit
import NetKitTesting
import Testing

struct StubBodyTests {
    private struct Cause: Error {}

    private static let url = "http://stub.test/"

    private func sent(_ body: Body) async -> (ending: Ending, request: StubRequest?) {
        let stub = StubTransport()
        stub.register("/", with: .status(200))
        let outcome = await ending(
            of: Request<Bytes>(Self.url, method: .post, body: body), from: Agent(transport: stub))
        return (outcome, stub.requests.first)
    }

    @Test func stubReadsBodiesOfEveryKind() async throws {
        let folder = try TemporaryFolder()
        let content = pattern(150_000)
        try folder.write(content, to: "body")
        let halves = [Bytes(Array(content[..<70_000])), Bytes(Array(content[70_000...]))]
        let bodies: [Body] = [
            Body(Bytes(content)), .file(folder.file("body")), .stream(length: 150_000) { Pieces(halves) },
            .once(Pieces(halves)),
            .pull(length: 150_000) {
                var next = 0
                return { span in
                    let count = min(span.count, content.count - next)
                    for index in 0..<count {
                        span[index] = content[next + index]
                    }
                    next += count
                    return count
                }
            },
        ]
        for body in bodies {
            let (ending, request) = await sent(body)
            #expect(ending == .answered)
            #expect(request?.body == Bytes(content))
            #expect(request?.isWhole == true)
        }
    }

    @Test(arguments: [(4, 3), (2, 3), (0, 3)])
    func announcedLengthIsEnforced(announced: Int, given: Int) async {
        let (ending, request) = await sent(.stream(length: announced) { Pieces([pattern(given)]) })
        #expect(ending == .failed(.bodyLength))
        #expect(request?.isWhole == false)
    }

    @Test func errorThrownByASourceIsTheUnderlyingError() async throws {
        let stub = StubTransport { _ in .status(200) }
        let body = Body.stream { Pieces<[UInt8]> { _ in throw Cause() } }
        let error = try await expectFailure(
            .bodySource, of: Request<Bytes>(Self.url, method: .post, body: body), from: Agent(transport: stub))
        #expect(error.underlying is Cause)
    }

    @Test func missingFileFails() async throws {
        let folder = try TemporaryFolder()
        #expect(await sent(.file(folder.file("none"))).ending == .failed(.file))
        #expect(await sent(.file(folder.path)).ending == .failed(.file))
    }

    @Test func cancellingEndsAWaitingBody() async throws {
        let stub = StubTransport { _ in .status(200) }
        let readCount = Counter()
        let gate = StubGate()
        let body = Body.stream {
            Pieces<[UInt8]> { index in
                readCount.increment()
                if index == 1 {
                    try await gate.waitForArrivals(1)
                }
                return [1]
            }
        }
        let task = Task {
            await ending(of: Request<Bytes>(Self.url, method: .post, body: body), from: Agent(transport: stub))
        }
        while readCount.value < 2 {
            await Task.yield()
        }
        task.cancel()
        #expect(await task.value == .failed(.cancelled))
        #expect(stub.requests.first?.body == [1])
    }
}
