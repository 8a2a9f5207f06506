import NetKit
import NetKitTesting
import Testing

/// Page after page.
@Suite(.timeLimit(.minutes(5)))
struct PagingTests {
    private struct Reply: Decodable, Sendable {
        var items: [Int]
        var total: Int?
        var next: String?
    }

    /// Returns a server with a list of numbers from 1, in pages that the query selects.
    private static func list(_ count: Int, first: Int = 1, cap: Int = .max) -> StubTransport {
        StubTransport { received in
            let query = fields(received.query)
            let size = min(query["per_page"] ?? query["limit"] ?? 3, cap)
            let start = query["offset"] ?? ((query["page"] ?? first) - first) * size
            return .json(
                "[" + (0..<count).dropFirst(start).prefix(size).map { "\($0 + 1)" }.joined(separator: ",") + "]")
        }
    }

    private static func fields(_ query: String?) -> [String: Int] {
        (query ?? "").split(separator: "&").reduce(into: [:]) { fields, field in
            let pair = field.split(separator: "=", maxSplits: 1).map(String.init)
            fields[pair[0]] = pair.count > 1 ? Int(pair[1]) : nil
        }
    }

    private func agent(_ transport: any Transport) -> Agent {
        Agent(.init(baseURL: "http://stub"), transport: transport)
    }

    private let numbers = Request<[Int]>("list", parameters: ["sort": "up"])

    private func collect<Value>(_ pages: some AsyncSequence<Page<Value>, NetError>) async throws -> [Page<Value>] {
        var all: [Page<Value>] = []
        for try await page in pages {
            all.append(page)
        }
        return all
    }

    /// Keeps an iterator, and loads a page for each call.
    private actor LoadedList<Pages: AsyncSequence<Page<[Int]>, NetError> & Sendable> {
        private var iterator: Pages.AsyncIterator

        init(_ pages: Pages) {
            iterator = pages.makeAsyncIterator()
        }

        func loadMore() async throws -> [Int]? {
            var iterator = iterator
            defer { self.iterator = iterator }
            return try await iterator.next(isolation: self)?.value
        }
    }

    @Test func actorCanKeepAnIterator() async throws {
        let list = LoadedList(agent(Self.list(5)).pages(of: numbers, by: .number(), size: 3))
        #expect(try await list.loadMore() == [1, 2, 3])
        #expect(try await list.loadMore() == [4, 5])
        #expect(try await list.loadMore() == nil)
    }

    // MARK: Styles

    @Test func pageNumbersIncreaseUntilAPageIsNotFull() async throws {
        let stub = Self.list(7)
        let pages = try await collect(agent(stub).pages(of: numbers, by: .number(), size: 3))
        #expect(pages.map(\.value) == [[1, 2, 3], [4, 5, 6], [7]])
        #expect(pages.map(\.number) == [1, 2, 3])
        #expect(pages.map(\.isFirst) == [true, false, false])
        #expect(pages.map(\.isLast) == [false, false, true])
        #expect(
            stub.requests.map(\.query) == (1...3).map { "page=\($0)&per_page=3&sort=up" })
    }

    @Test func emptyPageAfterTheLastIsOmitted() async throws {
        let stub = Self.list(6)
        let pages = try await collect(agent(stub).pages(of: numbers, by: .number(), size: 3))
        #expect(pages.map(\.value) == [[1, 2, 3], [4, 5, 6]])
        #expect(stub.requests.count == 3)
    }

    @Test func anEmptyListHasOneEmptyPage() async throws {
        let pages = try await collect(agent(Self.list(0)).pages(of: numbers, by: .number(), size: 3))
        #expect(pages.map(\.value) == [[]])
        #expect(pages[0].isFirst && pages[0].isLast)
    }

    @Test func pageNumbersCanStartAtZeroAndUseOtherParameterNames() async throws {
        let stub = Self.list(5, first: 0)
        let pages = try await collect(
            agent(stub).pages(of: numbers, by: .number("page", from: 0, size: "limit"), size: 2))
        #expect(pages.map(\.value) == [[1, 2], [3, 4], [5]])
        #expect(pages.map(\.number) == [1, 2, 3])
        #expect(stub.requests[0].query == "limit=2&page=0&sort=up")
    }

    @Test func offsetsIncreaseByTheNumberOfItems() async throws {
        let stub = Self.list(7, cap: 2)
        let style = PageStyle<[Int]>.offset(total: { _ in 7 })
        let pages = try await collect(agent(stub).pages(of: numbers, by: style, size: 5))
        #expect(pages.flatMap(\.value) == Array(1...7))
        #expect(stub.requests.map { Self.fields($0.query)["offset"] } == [0, 2, 4, 6])
        #expect(pages.last?.isLast == true)
    }

    @Test func totalDeterminesTheLastPage() async throws {
        let stub = Self.list(6)
        let style = PageStyle<[Int]>.number(total: { _ in 6 })
        let pages = try await collect(agent(stub).pages(of: numbers, by: style, size: 3))
        #expect(pages.map(\.isLast) == [false, true])
        #expect(stub.requests.count == 2)
    }

    @Test func cursorsAreFollowed() async throws {
        let stub = StubTransport()
        stub.register(
            "/list", with: .json(#"{"items": [1], "next": "b c"}"#), .json(#"{"items": [], "next": "d"}"#),
            .json(#"{"items": [3], "next": ""}"#))
        let pages = try await collect(
            agent(stub).pages(of: Request<Reply>("list"), by: .cursor("after") { $0.value.next }))
        #expect(pages.map(\.value.items) == [[1], [], [3]])
        #expect(pages.map(\.isLast) == [false, false, true])
        #expect(stub.requests.map(\.query) == [nil, "after=b%20c", "after=d"])
    }

    @Test func linksAreFollowed() async throws {
        let stub = StubTransport()
        func reply(_ text: String, _ link: String) -> StubReply {
            var reply = StubReply.json(text)
            reply.headers.append(name: "Link", value: link)
            return reply
        }
        stub.register(
            "/list", with: reply("[1]", #"</list?p=2>; rel="next", </list?p=9>; rel=last"#),
            reply("[2]", #"</list?p=1>; rel="prev first", <http://STUB:80/list?p=3>;rel=NEXT"#),
            reply("[3]", #"</list?p=2>; rel=prev"#))
        let pages = try await collect(agent(stub).pages(of: numbers, by: .link(size: "per_page"), size: 1))
        #expect(pages.map(\.value) == [[1], [2], [3]])
        #expect(stub.requests.map(\.query) == ["per_page=1&sort=up", "p=2", "p=3"])
    }

    // MARK: Invalid pages

    @Test func pagesFollowTheLinkFieldByDefault() async throws {
        let stub = StubTransport()
        var reply = StubReply.json("[1]")
        reply.headers["Link"] = #"</list?p=2>; rel="next""#
        stub.register("/list", with: reply, .json("[2]"))
        var pages: [[Int]] = []
        for try await page in agent(stub).pages(of: numbers) {
            pages.append(page.value)
        }
        #expect(pages == [[1], [2]])
    }

    @Test func aLinkToAnotherOriginIsRefused() async throws {
        let stub = StubTransport()
        var reply = StubReply.json("[1]")
        reply.headers["Link"] = #"<http://other/list?p=2>; rel="next""#
        stub.register("/list", with: reply)
        let agent = agent(stub)
        let pager = Pager(numbers, by: .link(), through: agent)
        let first = try await pager.loadNextPage()
        #expect(first?.value == [1] && first?.isLast == false && !pager.isLastPage)
        for _ in 0..<2 {
            let error = await #expect(throws: NetError.self) { try await pager.loadNextPage() }
            #expect(error?.code == .redirectRefused)
            #expect(error?.message.contains("http://other/list?p=2") == true)
        }
        #expect(stub.requests.count == 1)
        #expect(pager.currentPage?.value == [1])
    }

    @Test func crossOriginLinkOfACachedPageIsRefused() async throws {
        let stub = StubTransport()
        var reply = StubReply.json("[1]")
        reply.headers["Link"] = #"<http://other/list?p=2>; rel="next""#
        stub.register("http://stub/list", with: .redirect(to: "http://other/list"))
        stub.register("http://other/list", with: reply)
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [Caching(MemoryCacheStore(), rules: .app(9))]
        let agent = Agent(configuration, transport: stub)
        let list = Request<[Int]>("list", headers: ["X-Api-Key": .init(canary)])
        for isCached in [false, true] {
            let pager = Pager(list, by: .link(), through: agent)
            #expect(try await pager.loadNextPage()?.value == [1])
            let error = await #expect(throws: NetError.self) { try await pager.loadNextPage() }
            #expect(error?.code == .redirectRefused)
            #expect(error?.response?.cache?.isHit == isCached)
        }
        #expect(stub.requests.map(\.url) == ["http://stub/list", "http://other/list"])
        #expect(stub.requests.last?.headers["X-Api-Key"] == nil)
        let cached = try await agent.send(list)
        #expect(cached.isFromCache && cached.url == "http://other/list")
    }

    @Test(arguments: [1, 2, 3])
    func cycleOfCursorsIsDetected(length: Int) async throws {
        let stub = StubTransport { received in
            let number = Self.fields(received.query)["cursor"] ?? 0
            return .json(#"{"items": [\#(number)], "next": "\#(number % length + 1)"}"#)
        }
        let agent = agent(stub)
        let pager = Pager(Request<Reply>("list"), by: .cursor { $0.value.next }, through: agent)
        var numbers: [Int] = []
        let code = await failureCode { () async throws(NetError) in
            while let page = try await pager.loadNextPage() {
                numbers.append(page.number)
            }
        }
        #expect(code == .pageRepeated)
        #expect(numbers == Array(1...length + 1))
        #expect(stub.requests.count == length + 1)
        // Loading has ended: there is no further page.
        #expect(try await pager.loadNextPage()?.number == nil)
        #expect(pager.isLastPage)
    }

    @Test func linkBackToTheFirstPageIsDetected() async throws {
        let stub = StubTransport()
        var reply = StubReply.json("[1]")
        reply.headers["Link"] = #"</list>; rel="next""#
        stub.register("/list", with: reply)
        let agent = agent(stub)
        let pager = Pager(Request<[Int]>("list"), by: .link(), through: agent)
        #expect(try await pager.loadNextPage()?.value == [1])
        #expect(await failureCode { () async throws(NetError) in _ = try await pager.loadNextPage() } == .pageRepeated)
        #expect(try await pager.loadNextPage()?.value == nil)
        #expect(pager.isLastPage)
    }

    @Test func pageWithAnInvalidLinkIsDeliveredBeforeTheFailure() async throws {
        let stub = StubTransport()
        stub.register(
            "/list", with: .json(#"{"items": [1], "next": "A"}"#), .json(#"{"items": [2], "next": "B"}"#),
            .json(#"{"items": [2], "next": "A"}"#), .json(#"{"items": [9], "next": "C"}"#))
        var items: [Int] = []
        let error = await #expect(throws: NetError.self) {
            for try await page in agent(stub).pages(of: Request<Reply>("list"), by: .cursor { $0.value.next }) {
                items += page.value.items
            }
        }
        // Two pages with equal items are different pages if their cursors differ.
        #expect(items == [1, 2, 2])
        #expect(error?.code == .pageRepeated && error?.message.contains("\"A\"") == true)
        #expect(stub.requests.count == 3)
    }

    @Test func invalidLinkIsReportedAfterItsPage() async throws {
        let stub = StubTransport()
        var reply = StubReply.json("[1]")
        reply.headers["Link"] = #"<http://[x>; rel="next""#
        stub.register("/list", with: reply)
        var pages = agent(stub).pages(of: numbers, by: .link()).makeAsyncIterator()
        #expect(try await pages.next()?.value == [1])
        #expect(await failureCode { () async throws(NetError) in _ = try await pages.next(isolation: nil) } != nil)
    }

    @Test func errorContainsNoSecretOfALink() async throws {
        let stub = StubTransport()
        var reply = StubReply.json("[1]")
        reply.headers["Link"] = #"<http://u:p@other/list?access_token=\#(canary)&p=2>; rel="next""#
        stub.register("/list", with: reply)
        let pager = Pager(numbers, by: .link(), through: agent(stub))
        _ = try await pager.loadNextPage()
        let error = await #expect(throws: NetError.self) { try await pager.loadNextPage() }
        #expect(error?.message.contains("http://other/list") == true)
        #expect(error?.message.contains(canary) == false && error?.message.contains("u:p") == false)
    }

    @Test func serverThatIgnoresThePageNumberIsDetected() async throws {
        let stub = StubTransport { _ in .json("[1,2,3]") }
        let agent = agent(stub)
        var pages = agent.pages(of: numbers, by: .number(), size: 3).makeAsyncIterator()
        #expect(try await pages.next()?.number == 1)
        let code = await failureCode { () async throws(NetError) in _ = try await pages.next(isolation: nil) }
        #expect(code == .pageRepeated)
        #expect(try await pages.next()?.number == nil)
        #expect(stub.requests.count == 2)
    }

    @Test func aFailureEndsTheSequence() async throws {
        let stub = StubTransport()
        stub.register("/list", with: .json("[1,2,3]"), .status(503), .json("[4]"))
        var pages = agent(stub).pages(of: numbers, by: .number(), size: 3).makeAsyncIterator()
        #expect(try await pages.next()?.value == [1, 2, 3])
        let code = await failureCode { () async throws(NetError) in _ = try await pages.next(isolation: nil) }
        #expect(code == .status)
        #expect(try await pages.next()?.number == nil)
    }

    @Test func sequenceRestartsEachTimeItIsIterated() async throws {
        let pages = agent(Self.list(4)).pages(of: numbers, by: .number(), size: 3)
        #expect(try await collect(pages).map(\.value) == [[1, 2, 3], [4]])
        #expect(try await collect(pages).map(\.value) == [[1, 2, 3], [4]])
    }

    @Test func requestConvertibleTypesHavePages() async throws {
        struct Cities: RequestConvertible {
            func request() async throws(NetError) -> Request<[Int]> { Request("list") }
        }
        let pages = try await collect(agent(Self.list(4)).pages(of: Cities(), by: .number(), size: 3))
        #expect(pages.map(\.value) == [[1, 2, 3], [4]])
    }

    @Test func hugeCountsDoNotOverflow() async throws {
        let stub = StubTransport()
        stub.register("/list", with: .json("[1]"), .json("[2]"), .json("[3]"), .json("[]"))
        let pages = agent(stub).pages(of: numbers, by: .offset(size: nil) { $0.isEmpty ? 0 : .max }, size: 3)
        #expect(try await collect(pages).map(\.value) == [[1], [2], [3]])
        stub.register("/list", with: .json("[1]"), .json("[2]"), .json("[]"))
        let last = agent(stub).pages(of: numbers, by: .number(from: .max, size: nil), size: 3)
        #expect(try await collect(last).map(\.value) == [[1], [2]])
    }
}
