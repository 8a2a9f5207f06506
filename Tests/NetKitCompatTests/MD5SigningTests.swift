import FoundationEssentials
import NetKitCompat
import NetKitTesting
import Testing

@testable import NetKit

struct MD5SigningTests {
    private let stub = StubTransport { _ in .text("x") }

    /// Returns the signature in the URL, and the text that it was computed from.
    private func sent(
        _ request: Request<Bytes>, style: MD5Signing.Style = .parameters,
        _ change: (inout Agent.Configuration) -> Void = { _ in }
    ) async throws(NetError) -> (signature: String?, text: String) {
        let texts = Collected<String>()
        let signing = MD5Signing(publicKey: "pub", privateKey: "PRIV", style: style)
        var configuration = Agent.Configuration(baseURL: "http://h/api")
        configuration.interceptors = [
            Wrapping { (call, next) async throws(NetError) -> ChainResponse in
                texts.append(try signing.signedText(of: call))
                return try await next(call)
            }, signing,
        ]
        change(&configuration)
        _ = try await Agent(configuration, transport: stub).send(request)
        let query = stub.requests.last?.query ?? ""
        let signature = query.split(separator: "&").first { $0.hasPrefix("sig=") }.map { String($0.dropFirst(4)) }
        return (signature, texts.values.last ?? "")
    }

    private func digest(_ text: String) throws -> String { try Digest.of(Bytes(Array(text.utf8)), .md5).hexText }

    @Test func sortedParametersAndTheKeyAreDigested() async throws {
        let received = try await sent(Request("x", parameters: ["b": "2", "a": "1"]))
        #expect(received.text == "a=1&b=2PRIV")
        // Computed with md5sum(1).
        #expect(received.signature == "2232e614a7f1caac93d52481a5ddca64")
        #expect(stub.requests.last?.url == "http://h/api/x?a=1&b=2&sig=2232e614a7f1caac93d52481a5ddca64")
    }

    // RTNetworking truncated non-ASCII text (C17).
    @Test func valuesAreDigestedUnescapedAndInUTF8() async throws {
        let received = try await sent(
            Request(
                "x",
                parameters: ["城": "北京 & co", "t": true, "f": false, "n": -7, "d": 1.5, "big": 1e300, "small": -2.5e-9]))
        #expect(received.text == "big=1e300&d=1.5&f=0&n=-7&small=-2.5e-9&t=1&城=北京 & coPRIV")
        #expect(received.signature == (try digest(received.text)))
    }

    @Test func dateIsDigestedAsItIsSent() async throws {
        let received = try await sent(
            Request("x", parameters: ["at": .date(Date(timeIntervalSince1970: 0))] as Parameters))
        #expect(received.text == "at=1970-01-01T00:00:00ZPRIV")
        #expect(stub.requests.last?.query?.hasPrefix("at=1970-01-01T00%3A00%3A00Z&sig=") == true)
    }

    @Test func emptyValuesAreLeftOut() async throws {
        #expect(try await sent(Request("x", parameters: ["a": "", "b": .null, "c": "1"])).text == "c=1PRIV")
        #expect(try await sent(Request("x")).text == "PRIV")
    }

    @Test func bodyParametersIncludeThePublicKey() async throws {
        let received = try await sent(Request("x", method: .post, parameters: ["b": 2]))
        #expect(received.text == "api_key=pub&b=2PRIV")
        #expect(stub.requests.last?.body.text == "b=2")
        #expect(received.signature == (try digest(received.text)))
    }

    @Test func theRESTStyleBeginsWithVersionAndMethod() async throws {
        let received = try await sent(Request("v1/cities/hot", parameters: ["b": 2]), style: .rest(version: "v1"))
        #expect(received.text == "v1/cities/hotb=2PRIV")
        #expect(received.signature == (try digest(received.text)))
        #expect(try await sent(Request("cities"), style: .rest(version: "")).text == "api/citiesPRIV")
        #expect(try await sent(Request("cities"), style: .rest(version: "v9")).text == "v9/api/citiesPRIV")
    }

    @Test func restStyleDigestsAJSONBodyAfterTheParameters() async throws {
        var request = Request<Bytes>("v1/x", method: .post, parameters: ["b": 2])
        request.parameterPlacement = .json
        #expect(try await sent(request, style: .rest(version: "v1")).text == #"v1/x{"b":2}PRIV"#)
        let own = Request<Bytes>("v1/x", method: .post, body: try .json(["b": 3] as Parameters))
        let received = try await sent(own, style: .rest(version: "v1")) { $0.parameters = ["c": 1] }
        #expect(received.text == #"v1/xc=1{"b":3}PRIV"#)
    }

    // RTNetworking's cache included the parameters of every request when it stored, but not when it read (C16).
    @Test func agentParametersAreSigned() async throws {
        #expect(try await sent(Request("x", parameters: ["b": 2])) { $0.parameters = ["a": 1] }.text == "a=1&b=2PRIV")
    }

    @Test func parameterWithoutACanonicalTextCannotBeSigned() async throws {
        for parameters in [["a": [1]], ["a": ["b": 1]], [1, 2]] as [Parameters] {
            let code = await failureCode { () async throws(NetError) in
                _ = try await sent(Request("x", parameters: parameters))
            }
            #expect(code == .badParameter)
        }
        let streamed = Request<Bytes>("x", method: .put, body: .file("/etc/hostname"))
        let code = await failureCode { () async throws(NetError) in
            _ = try await sent(streamed, style: .rest(version: "v1"))
        }
        #expect(code == .usage)
        #expect(stub.requests.isEmpty)
    }

    @Test func descriptionContainsNoKey() {
        let md5 = MD5Signing(publicKey: "public", privateKey: "TOPSECRET")
        let signing = RequestSigning(keyID: "app", key: Bytes(Array("TOPSECRET".utf8)))
        var configuration = Agent.Configuration()
        configuration.interceptors = [md5, signing]
        var dumped = ""
        dump(configuration, to: &dumped)
        dump(DiskCacheStore(directory: "/none", sealKey: Array(repeating: 211, count: 32)), to: &dumped)
        let digits = Array("TOPSECRET".utf8).map(String.init).joined(separator: ", ")
        for text in ["\(md5)", "\(signing)", "\(configuration)", dumped] {
            #expect(!text.contains("TOPSECRET") && !text.contains(digits) && !text.contains("211"))
        }
        #expect("\(md5)" == "MD5Signing(publicKey: public, style: parameters, name: sig)")
        #expect("\(signing)" == "RequestSigning(keyID: app)")
    }
}
