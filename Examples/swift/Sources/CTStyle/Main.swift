// CTNetworking's idiom: services with environments and signatures, hooks around each call, and tokens that are
// refreshed when a body reports that they have expired.
import NetKit
import NetKitCompat
import NetKitTesting

struct Order: Decodable, Sendable {
    var number: Int
}

/// CTNetworking calls this an API manager.
struct LastOrder: Endpoint {
    typealias Value = Order
    let service: Service?
    let user: Int

    let path = "orders/last"
    var parameters: Parameters? { ["user": .init(user)] }
}

@main
struct Main {
    static func main() async throws {
        let stub = StubTransport()
        // The first response reports with status 200 that the token has expired.
        stub.register(
            "http://dev.example/v1/orders/last", with: .json(#"{"id": "expired_access_token"}"#),
            .json(#"{"number": 7}"#))
        stub.register("http://example/v1/orders/last", with: .json(#"{"number": 8}"#))

        var configuration = Service.Configuration(
            baseURLs: [.develop: "http://dev.example", .release: "http://example"])
        configuration.environment = .develop
        configuration.version = "v1"
        configuration.signing = [MD5Signing(publicKey: "app", privateKey: "secret")]
        configuration.mapError = { error in
            error.code == .invalidParameters ? NetError(.invalidParameters, "who are you?") : error
        }
        let orders = Service("orders", configuration)

        var hooks = CallHooks()
        hooks.shouldCall = { call in call.parameters?["user"] != nil }
        hooks.afterSuccess = { call, _ in print("call succeeded:", call.request.url.prefix { $0 != "?" }) }
        hooks.afterFailure = { _, error in print("call failed:", error) }

        var agentConfiguration = Agent.Configuration()
        agentConfiguration.interceptors = [
            hooks,
            ValidateParameters { parameters, _ in
                if parameters?["user"] == 0 { throw NetError(.invalidParameters, "user 0") }
            },
            CredentialRefresh("old", rule: .identifiers) { request, token in
                request.credentials = .bearer(token)
            } refresh: { _ in
                "new"
            },
        ]
        let agent = Agent(agentConfiguration, transport: stub)

        print("order:", try await agent.send(LastOrder(service: orders, user: 3)).value.number)
        orders.environment = .release
        print("order:", try await agent.send(LastOrder(service: orders, user: 3)).value.number)
        do {
            _ = try await agent.send(LastOrder(service: orders, user: 0))
            throw NetError(.internal, "user 0 was sent")
        } catch let error as NetError where error.code == .invalidParameters {
            print("not sent:", error.message)
        }

        let tokens = stub.requests.map(\.request.credentials)
        guard tokens == [.bearer("old"), .bearer("new"), .bearer("new")],
            stub.requests.allSatisfy({ $0.query?.contains("&sig=") == true })
        else { throw NetError(.internal, "the requests were others") }
    }
}
