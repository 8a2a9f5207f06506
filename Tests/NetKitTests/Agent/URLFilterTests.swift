import NetKit
import NetKitTesting
import Testing

struct URLFilterTests {
    private let stub = StubTransport { _ in .text("x") }

    private func filteredURL(
        _ path: String, parameters: Parameters? = nil, _ filters: URLFilter...
    ) async throws(NetError) -> String? {
        var configuration = Agent.Configuration(baseURL: "http://agent/v1")
        configuration.urlFilters = filters
        _ = try await Agent(configuration, transport: stub).send(Request<Bytes>(path, parameters: parameters))
        return stub.requests.last?.url
    }

    @Test func filtersRunInOrderOnTheOriginalURL() async throws {
        let log = Collected<String>()
        let url = try await filteredURL(
            "get",
            URLFilter { url, request in
                log.append("\(url) \(request.url)")
                return "a/" + url
            },
            URLFilter { url, request in
                log.append("\(url) \(request.url)")
                return url + "/b"
            })
        #expect(url == "http://agent/v1/a/get/b")
        #expect(log.values == ["get get", "a/get get"])
    }

    @Test(arguments: [
        ("get", "http://agent/v1/get?key=value"), ("get?a=1", "http://agent/v1/get?a=1&key=value"),
        ("get#top", "http://agent/v1/get?key=value#top"), ("a b", "http://agent/v1/a%20b?key=value"),
    ])
    func parametersAreAddedToTheQuery(path: String, url: String) async throws {
        #expect(try await filteredURL(path, .adding(["key": "value"])) == url)
    }

    @Test func filterParametersPrecedeRequestParameters() async throws {
        let url = try await filteredURL("get", parameters: ["b": 1], .adding(["z": "a%b c"]))
        #expect(url == "http://agent/v1/get?z=a%25b%20c&b=1")
        #expect(try await filteredURL("get", .adding([:])) == "http://agent/v1/get")
    }

    // In YTKNetwork absolute URLs bypassed every filter (Y9).
    @Test func absoluteURLsAreFilteredWhenConfigured() async throws {
        let absolute = "http://there/x"
        #expect(try await filteredURL(absolute, .adding(["a": 1])) == absolute)
        #expect(try await filteredURL(absolute, .adding(["a": 1], filtersAbsoluteURLs: true)) == absolute + "?a=1")
        let both = try await filteredURL(
            "HTTPS://there/x", .adding(["a": 1]), .adding(["b": 1], filtersAbsoluteURLs: true))
        #expect(both == "HTTPS://there/x?b=1")
    }

    @Test func filterCanMakeARelativeURLAbsolute() async throws {
        #expect(try await filteredURL("get", URLFilter { url, _ in "http://mirror/" + url }) == "http://mirror/get")
    }

    @Test func errorOfAFilterFailsTheRequest() async throws {
        struct Refusal: Error {}
        for (error, code) in [
            (Refusal() as any Error, NetError.Code.badURL), (NetError(.usage, "no"), .usage),
        ] {
            let failed = await failureCode { () async throws(NetError) in
                _ = try await filteredURL("get", URLFilter { _, _ in throw error })
            }
            #expect(failed == code)
        }
        #expect(stub.requests.isEmpty)
    }
}
