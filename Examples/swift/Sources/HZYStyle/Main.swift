// HZYNetwork's idiom: a request with a parameter source, reformers and validators, and a configurator for what a group
// of requests shares.
import NetKit
import NetKitCompat
import NetKitTesting

/// The parameter source, an object that another object owns.
final class SearchForm: ParameterDelegate {
    let words: String

    init(words: String) {
        self.words = words
    }

    func parameters(for request: Request<Bytes>) async throws -> Parameters? { ["q": .string(words)] }
}

struct TooShort: Error {}

@main
struct Main {
    static func main() async throws {
        let stub = StubTransport()
        stub.register("/search", with: .json(#"{"data": ["Oslo", "Os"], "code": 0}"#))

        // The configurator.
        var configuration = Service.Configuration(baseURLs: [.release: "http://search.example"])
        var limits = Limits()
        limits.total = .seconds(30)
        configuration.limits = limits
        configuration.headers = ["X-Client": "hzy-style"]
        configuration.adjustParameters = { parameters, _ in
            var parameters = parameters ?? [:]
            parameters["session"] = "s1"
            return parameters
        }
        configuration.maxInFlight = 5
        let search = Service("search", configuration)

        var request = Request<[String]>("search")
        request.service = search
        request.duplicates = .cancelPrevious
        request.interceptors = [
            RequestDeduplication(),
            ReformParameters { parameters, _ in
                var parameters = parameters
                parameters?["lang"] = "no"
                return parameters
            },
            ValidateParameters { parameters, _ in
                guard case .string(let words)? = parameters?["q"], words.count > 1 else { throw TooShort() }
            },
            // The response reformer: returns the contents of the envelope.
            ReformResponse { response in
                var response = response
                let body = try JSONValue(parsing: response.bytes)
                guard let data = body["data"] else { throw NetError(.decoding, "no data") }
                response.bytes = data.bytes
                return response
            },
        ]

        let agent = Agent(transport: stub)
        let form = SearchForm(words: "os")
        request.parameterSource = .delegate(form)
        print("found:", try await agent.send(request).value.joined(separator: ", "))

        let short = SearchForm(words: "o")
        request.parameterSource = .delegate(short)
        do {
            _ = try await agent.send(request)
            throw NetError(.internal, "a short search was sent")
        } catch let error as NetError where error.code == .invalidParameters {
            print("not sent:", error.underlying.map { "\($0)" } ?? "")
        }

        let urls = stub.requests.map(\.url)
        guard urls == ["http://search.example/search?lang=no&q=os&session=s1"] else {
            throw NetError(.internal, "unexpected requests: \(urls)")
        }
        withExtendedLifetime((form, short)) {}
    }
}
