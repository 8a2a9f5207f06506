import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// Reformers and validators of parameters and responses.
struct ReformTests {
    private struct Wrong: Error, Equatable { var place: String }

    private let stub = StubTransport()

    private func wrapped(_ interceptors: (any Interceptor)...) -> Agent {
        var configuration = Agent.Configuration(baseURL: "http://h")
        configuration.interceptors = interceptors
        return Agent(configuration, transport: stub)
    }

    // In HZYNetwork a refusal without an error object sent nothing and reported nothing (H5).
    @Test func invalidParametersAreReportedAndNothingIsSent() async throws {
        let thrown = await #expect(throws: NetError.self) {
            try await wrapped(ValidateParameters { _, _ in throw Wrong(place: "name") })
                .send(Request<Bytes>("x?secret=1", parameters: ["a": 1]))
        }
        #expect(thrown?.code == .invalidParameters)
        #expect(thrown?.underlying as? Wrong == Wrong(place: "name"))
        #expect(thrown?.message.contains("secret") == false)
        let agent = wrapped(ValidateParameters(where: { $0?["a"] != nil }))
        #expect(await ending(of: Request<Bytes>("x"), from: agent) == .failed(.invalidParameters))
        #expect(stub.requests.isEmpty)
        stub.register("*", with: .text("x"))
        #expect(await ending(of: Request<Bytes>("x", parameters: ["a": 1]), from: agent) == .answered)
    }

    // In CTNetworking a missing validator, or one without a result, meant "the token has expired" (C7).
    @Test func netErrorThrownByAValidatorIsUnchanged() async throws {
        let agent = wrapped(ValidateParameters { _, _ in throw NetError(.authentication, "log in") })
        #expect(await ending(of: Request<Bytes>("x"), from: agent) == .failed(.authentication))
    }

    @Test func reformedParametersAreSentAndValidatedAsTheyAreThen() async throws {
        stub.register("*", with: .text("x"))
        let seen = Collected<Parameters?>()
        let agent = wrapped(
            ReformParameters { parameters, request in ["wrapped": parameters ?? [:], "m": .string("\(request.method)")]
            },
            ValidateParameters { parameters, _ in seen.append(parameters) })
        _ = try await agent.send(Request<Bytes>("x?k=1", parameters: ["a": 1]))
        _ = try await agent.send(Request<Bytes>("x", method: .post, parameters: ["a": 1]))
        #expect(stub.requests.map(\.url) == ["http://h/x?k=1&m=GET&wrapped%5Ba%5D=1", "http://h/x"])
        #expect(stub.requests[1].body.text == "m=POST&wrapped%5Ba%5D=1")
        #expect(seen.values == [["wrapped": ["a": 1], "m": "GET"], ["wrapped": ["a": 1], "m": "POST"]])
    }

    @Test func reformerCanAddAndRemoveParameters() async throws {
        stub.register("*", with: .text("x"))
        let giving = wrapped(ReformParameters { parameters, _ in parameters ?? ["new": 1] })
        _ = try await giving.send(Request<Bytes>("x"))
        _ = try await giving.send(Request<Bytes>("x", method: .put))
        let taking = wrapped(ReformParameters { _, _ in nil })
        _ = try await taking.send(Request<Bytes>("x", parameters: ["a": 1]))
        _ = try await taking.send(Request<Bytes>("x", method: .put, parameters: ["a": 1]))
        #expect(stub.requests.map(\.url) == ["http://h/x?new=1", "http://h/x", "http://h/x", "http://h/x"])
        #expect(stub.requests.map(\.body.text) == ["", "new=1", "", ""])
    }

    @Test func reformedParametersAreMergedWithAgentParameters() async throws {
        stub.register("*", with: .text("x"))
        var configuration = Agent.Configuration(baseURL: "http://h")
        configuration.parameters = ["v": 1]
        configuration.interceptors = [
            ReformParameters { parameters, _ in
                #expect(parameters == ["a": 1])
                return ["b": 2]
            }
        ]
        _ = try await Agent(configuration, transport: stub).send(Request<Bytes>("x", parameters: ["a": 1]))
        #expect(stub.requests.first?.url == "http://h/x?b=2&v=1")
    }

    @Test func earlierURLChangeIsReportedAndNotOverwritten() async throws {
        stub.register("*", with: .text("x"))
        let moving = Wrapping { (call, next) async throws(NetError) -> ChainResponse in
            var call = call
            call.request.url = "http://mirror/x"
            return try await next(call)
        }
        let reform = ReformParameters { _, _ in ["a": 2] }
        let request = Request<Bytes>("x", parameters: ["a": 1])
        #expect(await ending(of: request, from: wrapped(moving, reform)) == .failed(.usage))
        #expect(await ending(of: request, from: wrapped(reform, moving)) == .answered)
    }

    @Test func reformersAndValidatorsAreIndependent() async throws {
        var call = Call(Request<Bytes>("http://h/x", parameters: ["a": 1]))
        let answer = Next { call in ChainResponse(Response(status: 200, "\(call.parameters?["b"] != nil)")) }
        #expect(
            try await ReformParameters { _, _ in ["b": 1] }.intercept(call, next: answer).response.bytes.text == "true")
        try call.setParameters(["c": 1])
        #expect(call.parameters == ["c": 1] && call.sentParameters == ["c": 1] && call.request.parameters == ["c": 1])
    }

    @Test func aReformedResponseIsDecoded() async throws {
        stub.register("*", with: .text("[1,2]|x", contentType: "text/plain"))
        let agent = wrapped(
            ReformResponse { response in
                var response = response
                response.bytes = Bytes(Array(response.bytes).split(separator: UInt8(ascii: "|"))[0].map { $0 })
                response.headers["Content-Type"] = "application/json"
                return response
            })
        let response = try await agent.send(Request<[Int]>("x"))
        #expect(response.value == [1, 2])
        #expect(response.bytes.text == "[1,2]")
    }

    @Test func reformerReceivesFailuresAndCanChangeTheOutcome() async throws {
        stub.register("*", with: .failure(.reset), .failure(.refused), .status(500))
        let agent = wrapped(
            ReformResponse(outcome: { outcome, _ in
                switch outcome {
                case .success(let response): throw Wrong(place: "\(response.status)")
                case .failure(let error) where error.code == .reset: return Response(status: 200, "spare")
                case .failure(let error): throw NetError(.closed, error.message)
                }
            }))
        #expect(try await agent.send(Request<String>("x")).value == "spare")
        #expect(await ending(of: Request<Bytes>("x"), from: agent) == .failed(.closed))
        let error = await #expect(throws: NetError.self) { try await agent.send(Request<Bytes>("x")) }
        #expect(error?.code == .invalidValue && error?.underlying as? Wrong == Wrong(place: "500"))
        #expect(error?.response?.status == 500)
    }

    // In HZYNetwork refusing a response without an error object was a success (H6).
    @Test func invalidResponseIsReportedWithTheResponse() async throws {
        stub.register("*", with: .text("bad"), .text("bad"), .text("bad", status: 404))
        for validate in [
            ValidateResponse(where: { $0.bytes.text != "bad" }), ValidateResponse { _ in throw Wrong(place: "b") },
        ] {
            let error = await #expect(throws: NetError.self) { try await wrapped(validate).send(Request<String>("x")) }
            #expect(error?.code == .invalidValue)
            #expect(error?.response?.bytes.text == "bad")
        }
        let agent = wrapped(ValidateResponse(where: { _ in false }))
        #expect(await ending(of: Request<String>("x"), from: agent) == .failed(.status))
    }

    @Test func responseIsValidatedAfterItsReform() async throws {
        stub.register("*", with: .text("raw"))
        let seen = Collected<String>()
        let agent = wrapped(
            ValidateResponse { seen.append($0.bytes.text) },
            ReformResponse { _ in Response(status: 200, "reformed") })
        #expect(try await agent.send(Request<String>("x")).value == "reformed")
        #expect(seen.values == ["reformed"])
    }

    @Test func streamsAndSavedBodiesAreNotReformed() async throws {
        let folder = try TemporaryFolder()
        stub.register("*", with: .text("raw"))
        let agent = wrapped(
            ValidateResponse(where: { _ in false }), ReformResponse { _ in Response(status: 200, "reformed") })
        #expect(try await agent.stream(Request<Bytes>("x")).collect(upTo: 10).text == "raw")
        _ = try await agent.download(Request<Bytes>("x"), to: folder.file("f"), options: .init(isResumable: false))
        #expect(folder.contents(of: "f") == Array("raw".utf8))
    }

    // HZYNetwork's order: source, reform, validate, adjust.
    @Test func theOrderOfParametersIsSourceReformValidateAdjust() async throws {
        stub.register("*", with: .text("x"))
        let log = Collected<String>()
        var configuration = Service.Configuration()
        configuration.adjustParameters = { parameters, _ in
            log.append("adjust")
            return parameters
        }
        var request = Request<Bytes>("x")
        request.service = Service("s", configuration)
        request.parameterSource = ParameterSource { _ in
            log.append("source")
            return ["a": 1]
        }
        let agent = wrapped(
            ReformParameters { parameters, _ in
                log.append("reform")
                return parameters
            }, ValidateParameters { _, _ in log.append("validate") })
        _ = try await agent.send(request)
        #expect(log.values == ["source", "reform", "validate", "adjust"])
        #expect(stub.requests.first?.url == "http://h/x?a=1")
    }
}
