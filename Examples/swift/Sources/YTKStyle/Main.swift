// YTKNetwork's idiom: a type per request, one configuration of base URL and common arguments, blocks for the result.
import NetKit
import NetKitCompat
import NetKitTesting

struct City: Codable, Sendable {
    var name: String
}

/// GET /v2/cities/hot?count=3&platform=linux
struct HotCities: Endpoint {
    typealias Value = [City]
    let count: Int

    let path = "cities/hot"
    var parameters: Parameters? { ["count": .init(count)] }
    // YTKNetwork calls this a JSON validator.
    let shape: JSONShape? = [["name": .string]]
}

/// POST /v2/cities, as JSON
struct AddCity: Endpoint {
    typealias Value = Void
    let city: City

    let path = "cities"
    let method = NetKit.Method.post
    var body: Body? { get throws(NetError) { try .json(city) } }
    let credentials: Credentials? = .basic(user: "editor", password: "secret")
}

/// GET from the CDN
struct Picture: Endpoint {
    typealias Value = Bytes
    let path = "oslo.png"
    let baseURL = "http://cdn.example"
}

@main
struct Main {
    static func main() async throws {
        let stub = StubTransport()
        stub.register("http://api.example/v2/cities/hot", with: .json(#"[{"name": "Oslo"}, {"name": "Bergen"}]"#))
        stub.register("http://api.example/v2/cities", method: .post, with: .status(201))
        stub.register("http://cdn.example/oslo.png", with: .bytes([0x89, 0x50, 0x4E, 0x47], contentType: "image/png"))

        var configuration = Agent.Configuration(baseURL: "http://api.example/v2")
        configuration.interceptors = [URLFilter.adding(["platform": "linux"])]
        let agent = Agent(configuration, transport: stub)

        let handle = agent.start(
            HotCities(count: 3),
            success: { response in print("hot:", response.value.map(\.name).joined(separator: ", ")) },
            failure: { error in print("hot failed:", error) })
        _ = try await handle.value

        try await agent.send(AddCity(city: City(name: "Tromsø"))).value
        print("added, status 201")
        print("picture:", try await agent.send(Picture()).value.count, "bytes from", stub.requests[2].url)

        let urls = stub.requests.map(\.url)
        let expected = [
            "http://api.example/v2/cities/hot?count=3&platform=linux", "http://api.example/v2/cities?platform=linux",
            "http://cdn.example/oslo.png?platform=linux",
        ]
        guard urls == expected else { throw NetError(.internal, "unexpected requests: \(urls)") }
    }
}
