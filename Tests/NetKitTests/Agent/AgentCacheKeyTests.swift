import NetKit
import NetKitTesting
import Testing

struct AgentCacheKeyTests {
    private func agent(_ change: (inout Agent.Configuration) -> Void = { _ in }) -> Agent {
        var configuration = Agent.Configuration(baseURL: "http://h")
        change(&configuration)
        return Agent(configuration, transport: StubTransport())
    }

    @Test func cacheKeyCanExcludeVolatileParameters() throws {
        let agent = agent()
        func key(_ parameters: Parameters, _ method: NetKit.Method = .get) throws -> CacheKey {
            var request = Request<Bytes>("x", method: method, parameters: parameters)
            request.cacheKeyParameters = { all in
                var counted = all
                counted["ts"] = nil
                return counted
            }
            return try agent.cacheKey(for: request)
        }
        for method in [NetKit.Method.get, .post] {
            #expect(try key(["q": 1, "ts": 1], method) == key(["q": 1, "ts": 2], method))
            #expect(try key(["q": 1, "ts": 1], method) != key(["q": 2, "ts": 1], method))
        }
        #expect(try key(["q": 1, "ts": 1]) == agent.cacheKey(for: Request<Bytes>("x", parameters: ["q": 1])))
    }

    @Test func cacheKeyFilterReceivesAgentParameters() throws {
        let agent = agent { $0.parameters = ["ts": 7, "v": 1] }
        var request = Request<Bytes>("x", parameters: ["q": 1])
        let whole = try agent.cacheKey(for: request)
        #expect(try whole != self.agent().cacheKey(for: request))
        request.cacheKeyParameters = { .object($0.fields.filter { $0.name != "ts" }) }
        #expect(try agent.cacheKey(for: request) == self.agent { $0.parameters = ["v": 1] }.cacheKey(for: request))
        #expect(try agent.cacheKey(for: request) != whole)
    }

    // YTKNetwork left hosts out of its key, so that one host got another's response (Y1).
    @Test func cacheKeyIncludesTheResolvedURL() throws {
        let plain = Request<Bytes>("x")
        var otherOrigin = plain
        otherOrigin.baseURL = "http://other"
        let agent = agent()
        #expect(try agent.cacheKey(for: plain) != agent.cacheKey(for: otherOrigin))
    }

    @Test func cacheKeyIncludesWhatInterceptorsDeclare() async throws {
        struct Versioned: Interceptor {
            let version: Int
            func identified(_ request: Request<Bytes>) -> Request<Bytes>? {
                var request = request
                request.url += "?v=\(version)"
                return request
            }
            func intercept(_ call: Call, next: Next) async throws -> ChainResponse {
                var call = call
                call.request = identified(call.request) ?? call.request
                return try await next(call)
            }
        }
        let first = agent { $0.interceptors = [Versioned(version: 1)] }
        let second = agent { $0.interceptors = [Versioned(version: 2)] }
        let request = Request<Bytes>("x")
        #expect(try first.cacheKey(for: request) != second.cacheKey(for: request))
        #expect(try await first.cacheKey(forStarting: request) == first.cacheKey(for: request))
    }

    @Test func cacheKeyWithComputedParametersIsAvailableOnlyAsynchronously() async throws {
        var request = Request<Bytes>("x", parameters: ["a": 0])
        request.parameterSource = ParameterSource { _ in ["n": 1] }
        let asking = agent { $0.computedParameters = { _ in ["m": 2] } }
        let error = #expect(throws: NetError.self) { try asking.cacheKey(for: request) }
        #expect(error?.code == .usage)
        let key = try await asking.cacheKey(forStarting: request)
        #expect(try key == agent().cacheKey(for: Request<Bytes>("x", parameters: ["m": 2, "n": 1])))
    }

    @Test func multipartFormHasNoCacheKey() throws {
        var form = MultipartBody()
        form.append("1", name: "a")
        let request = Request<Bytes>("x", method: .post, body: try .multipart(form))
        let error = #expect(throws: NetError.self) { try agent().cacheKey(for: request) }
        #expect(error?.code == .unsupported)
    }

    @Test func callExposesItsCacheKeyToInterceptors() async throws {
        let keys = Collected<CacheKey>()
        let agent = agent {
            $0.interceptors = [
                Wrapping { call, _ in
                    do throws(NetError) { keys.append(try call.cacheKey(scope: "me")) } catch {}
                    return ChainResponse(Response(status: 200, "x"))
                }
            ]
        }
        var request = Request<Bytes>("x", parameters: ["a": 1, "ts": 9])
        request.cacheKeyParameters = { _ in ["a": 1] }
        _ = try await agent.send(request)
        #expect(keys.values == [try agent.cacheKey(for: Request<Bytes>("x", parameters: ["a": 1]), scope: "me")])
    }

    @Test(arguments: [
        (true, "&f=1", "http://h/x?a=1&f=1"), (true, "", "http://h/x?a=1"), (false, "&f=1", "http://h/x?f=1"),
    ])
    func keyContainsTheQueryThatAnInterceptorAppended(keepsA: Bool, added: String, url: String) async throws {
        let keys = Collected<CacheKey>()
        let agent = agent {
            $0.interceptors = [
                Wrapping { call, _ in
                    var call = call
                    call.request.url += added
                    do throws(NetError) { keys.append(try call.cacheKey()) } catch {}
                    return ChainResponse(Response(status: 200, "x"))
                }
            ]
        }
        var request = Request<Bytes>("x", parameters: ["a": 1, "ts": 9])
        request.cacheKeyParameters = { _ in keepsA ? ["a": 1] : [:] }
        _ = try await agent.send(request)
        #expect(keys.values == [try agent.cacheKey(for: Request<Bytes>(url))])
    }

    @Test func urlThatAnInterceptorChangedInAnotherWayHasNoKeyOfSelectedParameters() async throws {
        let codes = Collected<NetError.Code>()
        let agent = agent {
            $0.interceptors = [
                Wrapping { call, _ in
                    for url in [call.request.url + "0", "http://h/y?a=1&f=1", call.request.url + "#f"] {
                        var call = call
                        call.request.url = url
                        do throws(NetError) { _ = try call.cacheKey() } catch { codes.append(error.code) }
                    }
                    return ChainResponse(Response(status: 200, "x"))
                }
            ]
        }
        var request = Request<Bytes>("x", parameters: ["a": 1])
        request.cacheKeyParameters = { $0 }
        _ = try await agent.send(request)
        #expect(codes.values == [.usage, .usage, .usage])
    }
}
