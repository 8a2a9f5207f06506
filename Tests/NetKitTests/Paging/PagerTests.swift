import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// CTNetworking's paging protocol.
@Suite(.timeLimit(.minutes(5)))
struct PagerTests {
    private let stub = StubTransport()
    private let gate = StubGate()

    private func pager(size: Int = 2) -> Pager<Request<[Int]>> {
        let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        return Pager(Request<[Int]>("list"), by: .number(), size: size, through: agent)
    }

    @Test func pagerReportsItsPosition() async throws {
        stub.register("/list", with: .json("[1,2]"), .json("[3]"))
        let pager = pager()
        #expect(pager.currentPageNumber == 0)
        #expect(!pager.isFirstPage && !pager.isLastPage && !pager.isLoading)
        #expect(try await pager.loadNextPage()?.value == [1, 2])
        #expect(pager.currentPageNumber == 1)
        #expect(pager.isFirstPage && !pager.isLastPage)
        #expect(try await pager.loadNextPage()?.value == [3])
        #expect(pager.currentPageNumber == 2)
        #expect(!pager.isFirstPage && pager.isLastPage)
        #expect(try await pager.loadNextPage()?.value == nil)
        #expect(stub.requests.count == 2)
    }

    @Test func emptyPageMarksThePreviousPageAsTheLast() async throws {
        stub.register("/list", with: .json("[1,2]"), .json("[]"))
        let pager = pager()
        _ = try await pager.loadNextPage()
        #expect(try await pager.loadNextPage()?.value == nil)
        #expect(pager.currentPage?.value == [1, 2])
        #expect(pager.currentPage?.isLast == true)
        #expect(pager.isLastPage)
    }

    @Test func refreshingRestartsAtTheFirstPage() async throws {
        stub.register("/list", with: .json("[1,2]"), .json("[3]"), .json("[0,1]"), .json("[2,3]"), .json("[4]"))
        let pager = pager()
        _ = try await pager.loadNextPage()
        _ = try await pager.loadNextPage()
        #expect(try await pager.refresh().value == [0, 1])
        #expect(pager.isFirstPage && !pager.isLastPage)
        #expect(try await pager.loadNextPage()?.value == [2, 3])
        #expect(try await pager.loadNextPage()?.value == [4])
        #expect(stub.requests.map(\.query) == [1, 2, 1, 2, 3].map { "page=\($0)&per_page=2" })
    }

    @Test func failedRefreshChangesNothing() async throws {
        stub.register("/list", with: .json("[1,2]"), .failure(.reset), .json("[3]"))
        let pager = pager()
        _ = try await pager.loadNextPage()
        #expect(await failureCode { () async throws(NetError) in _ = try await pager.refresh() } == .reset)
        #expect(pager.currentPage?.value == [1, 2])
        #expect(try await pager.loadNextPage()?.value == [3])
    }

    @Test func pageWithAnInvalidLinkIsDeliveredAndARefreshRestarts() async throws {
        func page(_ text: String, _ link: String) -> StubReply {
            var reply = StubReply.json(text)
            reply.headers["Link"] = "<\(link)>; rel=next"
            return reply
        }
        stub.register(
            "/list", with: page("[1]", "/list?p=2"), page("[0]", "http://other/list?p=2"), page("[0]", "/list"),
            page("[2]", "http://other/list?p=3"), .json("[2]"))
        let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        let pager = Pager(Request<[Int]>("list"), by: .link(), through: agent)
        _ = try await pager.loadNextPage()
        for code in [NetError.Code.redirectRefused, .pageRepeated] {
            #expect(try await pager.refresh().value == [0])
            #expect(!pager.isLastPage)
            #expect(await failureCode { () async throws(NetError) in _ = try await pager.loadNextPage() } == code)
        }
        #expect(try await pager.loadNextPage()?.value == nil)
        #expect(try await pager.refresh().value == [2])
        #expect(stub.requests.map(\.query) == [nil, nil, nil, nil])
    }

    @Test func failedLoadCanBeRetried() async throws {
        stub.register("/list", with: .json("[1,2]"), .status(503), .json("[3]"))
        let pager = pager()
        _ = try await pager.loadNextPage()
        #expect(
            await failureCode { () async throws(NetError) in _ = try await pager.loadNextPage() }
                == .status)
        #expect(pager.currentPageNumber == 1)
        #expect(try await pager.loadNextPage()?.value == [3])
        #expect(stub.requests.map(\.query) == [1, 2, 2].map { "page=\($0)&per_page=2" })
    }

    @Test func concurrentLoadsReturnDifferentPages() async throws {
        stub.register("/list", with: (0..<10).map { StubReply.json("[\($0),\($0)]") } + [.json("[]")])
        let pager = pager()
        let numbers = try await withThrowingTaskGroup(of: Int?.self) { group in
            for _ in 0..<20 {
                group.addTask { try await pager.loadNextPage()?.number }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(numbers.compactMap(\.self).sorted() == Array(1...10))
        #expect(numbers.count { $0 == nil } == 10)
        #expect(stub.requests.count == 11)
        #expect(!pager.isLoading)
    }

    @Test func cancelledWaitingLoadDoesNotBlockTheNext() async throws {
        stub.register("/list", with: [StubReply.json("[1,2]").held(by: gate), .json("[3,4]")])
        let pager = pager()
        let first = Task { try await pager.loadNextPage()?.number }
        try await gate.waitForArrivals(1)
        let second = Task {
            await failureCode { () async throws(NetError) in _ = try await pager.loadNextPage() }
        }
        second.cancel()
        #expect(await second.value == .cancelled)
        let third = Task { try await pager.loadNextPage()?.number }
        gate.open()
        #expect(try await first.value == 1)
        #expect(try await third.value == 2)
    }

    @Test func cancelledLoadLosesNoPage() async throws {
        stub.register("/list", with: [StubReply.json("[1,2]").held(by: gate), .json("[1,2]")])
        let pager = pager()
        let first = Task {
            await failureCode { () async throws(NetError) in _ = try await pager.loadNextPage() }
        }
        try await gate.waitForArrivals(1)
        first.cancel()
        #expect(await first.value == .cancelled)
        #expect(try await pager.loadNextPage()?.number == 1)
    }

    @Test func pageSizeAppliesFromTheNextRefresh() async throws {
        stub.register("/list", with: .json("[1,2]"), .json("[3,4]"), .json("[1,2,3]"))
        let pager = pager()
        pager.pageSize = 0
        #expect(pager.pageSize == 1)
        pager.pageSize = 2
        _ = try await pager.loadNextPage()
        pager.pageSize = 3
        _ = try await pager.loadNextPage()
        _ = try await pager.refresh()
        #expect(
            stub.requests.map(\.query) == ["page=1&per_page=2", "page=2&per_page=2", "page=1&per_page=3"])
    }

    @Test func pageSizeIsThatOfTheRequestUntilItIsSet() async throws {
        stub.register("/list", with: .json("[1,2]"), .json("[3]"), .json("[1,2,3]"))
        let agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        let pager = Pager(Request<[Int]>("list", query: ["per_page": 2]), by: .number(), through: agent)
        #expect(pager.pageSize == 20)
        _ = try await pager.loadNextPage()
        #expect(pager.pageSize == 2 && !pager.isLastPage)
        _ = try await pager.loadNextPage()
        #expect(pager.isLastPage)
        pager.pageSize = 3
        _ = try await pager.refresh()
        #expect(!pager.isLastPage)
        #expect(stub.requests.map(\.query) == ["page=1&per_page=2", "page=2&per_page=2", "page=1&per_page=3"])
    }
}
