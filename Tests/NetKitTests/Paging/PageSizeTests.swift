import NetKit
import NetKitTesting
import Testing

/// The number of items on a page.
@Suite(.timeLimit(.minutes(5)))
struct PageSizeTests {
    /// Returns a server with the numbers from 1 to 5, in pages that the query selects.
    private static func list() -> StubTransport {
        StubTransport { received in
            let fields = fields(received.query)
            let size = fields["per_page"] ?? fields["limit"] ?? 20
            let start = fields["offset"] ?? ((fields["page"] ?? 1) - 1) * size
            return .json("\(Array((1...5).dropFirst(start).prefix(size)))")
        }
    }

    private static func fields(_ query: String?) -> [String: Int] {
        (query ?? "").split(separator: "&").reduce(into: [:]) { fields, field in
            let pair = field.split(separator: "=").map(String.init)
            fields[pair[0]] = Int(pair[1])
        }
    }

    private func agent(_ stub: StubTransport) -> Agent { Agent(.init(baseURL: "http://stub"), transport: stub) }

    private func collect<Value>(_ pages: some AsyncSequence<Page<Value>, NetError>) async throws -> [Page<Value>] {
        var all: [Page<Value>] = []
        for try await page in pages {
            all.append(page)
        }
        return all
    }

    @Test func sizeOfTheRequestWinsOverTheDefaultInEveryStyle() async throws {
        let styles: [(PageStyle<[Int]>, String)] = [
            (.number(), "per_page"), (.offset(), "limit"), (.cursor(size: "size") { _ in nil }, "size"),
            (.link(size: "items"), "items"),
        ]
        for (style, name) in styles {
            let ways = [
                Request<[Int]>("list", query: [name: 2]), Request<[Int]>("list", parameters: [name: 2]),
                Request<[Int]>("list", query: [name: "2"]), Request<[Int]>("list?\(name)=2"),
            ]
            for request in ways {
                let stub = StubTransport { _ in .json("[]") }
                _ = try await collect(agent(stub).pages(of: request, by: style))
                _ = try await collect(agent(stub).pages(of: Request<[Int]>("list"), by: style))
                #expect(stub.requests.map { Self.fields($0.query)[name] } == [2, 20])
                #expect(stub.requests[0].url.split(separator: "\(name)=").count == 2)
            }
            for request in ways {
                let stub = StubTransport { _ in .json("[]") }
                _ = try await collect(agent(stub).pages(of: request, by: style, size: 5))
                #expect(Self.fields(stub.requests[0].query)[name] == 5)
                #expect(stub.requests[0].url.split(separator: "\(name)=").count == 2)
            }
            let stub = StubTransport { _ in .json("[]") }
            let missing = Request<[Int]>("list", query: [name: Int?.none])
            _ = try await collect(agent(stub).pages(of: missing, by: style))
            #expect(Self.fields(stub.requests[0].query)[name] == 20)
        }
    }

    @Test func listEndsAtAPageThatHasFewerItemsThanTheRequestAsksFor() async throws {
        let stub = Self.list()
        let pages = try await collect(agent(stub).pages(of: Request<[Int]>("list?per_page=2"), by: .number()))
        #expect(pages.map(\.value) == [[1, 2], [3, 4], [5]] && stub.requests.count == 3)
        let offsets = Self.list()
        let request = Request<[Int]>("list", query: ["limit": 3])
        let rest = try await collect(agent(offsets).pages(of: request, by: .offset()))
        #expect(rest.map(\.value) == [[1, 2, 3], [4, 5]] && offsets.requests.count == 2)
    }

    @Test func listWithASizeThatIsNoNumberEndsBeforeAnEmptyPage() async throws {
        let stub = StubTransport { received in
            .json(received.query?.contains("page=1&") == true ? "[1, 2, 3]" : "[]")
        }
        let request = Request<[Int]>("list", query: ["per_page": "many"])
        let pages = try await collect(agent(stub).pages(of: request, by: .number()))
        #expect(pages.map(\.value) == [[1, 2, 3]])
        #expect(stub.requests.map(\.query) == ["page=1&per_page=many", "page=2&per_page=many"])
    }
}
