import NetKit

/// A demonstration of the library with a local server. All numbers that it prints come from real responses.
struct Demo {
    static let help = """
        Usage: nk demo

        Demonstrates the library against a local server: requests, a redirect, 1,000
        parallel requests, cancellation, TLS and errors. Takes a second or two.

        Exit code: 0 all steps succeeded, \(ExitCode.demo) a step failed, 23 cannot write output.

        """

    /// Runs all steps and returns the exit code. A step with an unexpected outcome ends the demonstration.
    static func run() async -> Int32 {
        guard let server = DemoServer(), let secure = DemoServer(isSecure: true) else {
            Terminal.complain("nk: (\(ExitCode.demo)) the loopback server did not start")
            return ExitCode.demo
        }
        let demo = Demo(server: server, secure: secure)
        demo.fillServers()
        let agent = Agent(.init(baseURL: "http://127.0.0.1:\(server.port)"))
        let code = await demo.runSteps(agent)
        await agent.shutdown()
        return code
    }

    private struct City: Codable, Equatable {
        var name: String
        var people: Int
    }

    private struct Unexpected: Error {
        let description: String
    }

    private let server: DemoServer
    private let secure: DemoServer
    private let page = DemoPage()

    private func fillServers() {
        let cities = #"[{"name":"Lisbon","people":545796},{"name":"Quito","people":1763275}]"#
        server.register("/cities", json: cities)
        server.echo("/echo")
        server.redirect("/towns", to: "/cities")
        server.stall("/stalled")
        secure.register("/cities", json: cities)
    }

    private func runSteps(_ agent: Agent) async -> Int32 {
        let steps: [(String, (Agent) async throws -> [String])] = [
            ("GET, decoded", typedResult), ("POST, encoded", post), ("a redirect", redirect),
            ("1,000 parallel", parallelRequests), ("a cancellation", cancel), ("over TLS", tls),
            ("an unknown CA", untrustedServer),
            ("a 404", notFound), ("closed port", closedPort),
        ]
        page.title("NetKit \(Versions.nk) on libcurl \(Versions.curl), \(Versions.tls)")
        for (index, (name, step)) in steps.enumerated() {
            do {
                page.step(index + 1, name, try await step(agent))
            } catch let unexpected as Unexpected {
                return fail(index + 1, name, unexpected.description)
            } catch {
                return fail(index + 1, name, "\(error)")
            }
        }
        page.end("demo: all \(steps.count) steps as expected")
        if let fault = page.fault {
            Terminal.complain("nk: (\(ExitCode.write)) \(fault)")
            return ExitCode.write
        }
        return ExitCode.success
    }

    private func fail(_ number: Int, _ name: String, _ description: String) -> Int32 {
        Terminal.complain("nk: (\(ExitCode.demo)) step \(number), \(name): \(Verbose.printable(description))")
        return ExitCode.demo
    }

    // MARK: Steps

    private func typedResult(_ agent: Agent) async throws -> [String] {
        let response = try await agent.send(Request<[City]>("cities"))
        try expect(response.value.count == 2, "\(response.value.count) cities instead of 2")
        try expect(response.metrics.count == 1, "\(response.metrics.count) hops instead of 1")
        return [
            "\(response.status) \(response.httpVersion) from \(response.url)",
            response.value.map { "\($0.name) \(Format.count($0.people))" }.joined(separator: ", ")
                + " — first byte after \(time(response.metrics[0].firstByte))",
        ]
    }

    private func post(_ agent: Agent) async throws -> [String] {
        let city = City(name: "Århus", people: 285_273)
        let response = try await agent.send(Request<City>("echo", method: .post, body: try .json(city)))
        try expect(response.value == city, "the server got \(response.value)")
        let hop = response.metrics[0]
        return [
            "\(response.status), \(response.headers["Content-Type"] ?? "no Content-Type"), "
                + "received \(response.value.name) \(Format.count(response.value.people))",
            "\(hop.sentBytes) bytes sent, \(hop.headBytes + hop.receivedBytes) received, "
                + (hop.isReused ? "on the same connection" : "on a new connection"),
        ]
    }

    private func redirect(_ agent: Agent) async throws -> [String] {
        let response = try await agent.send(Request<[City]>("towns"))
        let statuses = response.metrics.map(\.status)
        try expect(statuses == [302, 200], "the statuses were \(statuses)")
        return [
            response.metrics.map { "\($0.status) \(path(of: $0.url))" }.joined(separator: "  →  ")
                + ", \(response.value.count) cities, first byte after \(time(response.metrics.last?.firstByte))"
        ]
    }

    private func parallelRequests(_ agent: Agent) async throws -> [String] {
        let responses = try await withThrowingTaskGroup(of: (Int, Response<Int>).self) { group in
            for number in 0..<1000 {
                group.addTask {
                    let request = Request<Int>("echo", method: .post, body: try .json(number))
                    return (number, try await agent.send(request))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let matching = responses.count { $0 == $1.value }
        try expect(matching == 1000, "\(matching) of 1,000 responses match their requests")
        let hops = responses.flatMap { $0.1.metrics }
        let slowest = hops.compactMap(\.ended).max() ?? .zero
        let opened = hops.reduce(0) { $0 + $1.connectionsOpened }
        let bytes = hops.reduce(0) { $0 + $1.sentBytes + $1.headBytes + $1.receivedBytes }
        try expect(opened <= agent.configuration.maxConnectionsPerHost, "\(opened) connections were opened")
        return [
            "\(Format.count(matching)) of \(Format.count(responses.count)) responses match their requests, "
                + "\(Format.count(bytes)) bytes",
            "\(opened) connections, \(hops.count { $0.isReused }) reuses, last response after "
                + Format.milliseconds(slowest),
        ]
    }

    /// Cancels a request in the middle of its response. The server reports when it has reached that point, so no sleep
    /// is needed.
    private func cancel(_ agent: Agent) async throws -> [String] {
        let task = Task.detached { try await agent.send(Request<Bytes>("stalled")) }
        let isStalled = server.waitForStalled()
        task.cancel()
        let result = await task.result
        try expect(isStalled, "the server never started its response")
        let error = try failure(of: result, with: .cancelled)
        let arrived = error.response.map { "\($0.status) and \($0.bytes.count) bytes of its body" } ?? "nothing"
        return ["\(error.code): \(error.message)", "\(arrived) had arrived"]
    }

    private func tls(_ agent: Agent) async throws -> [String] {
        var request = Request<[City]>("https://127.0.0.1:\(secure.port)/cities")
        request.trust = TrustPolicy(roots: .pem(secure.authority))
        let response = try await agent.send(request)
        let hop = response.metrics[0]
        guard let secured = hop.secured, let connected = hop.connected else {
            throw Unexpected(description: "the connection was not secured")
        }
        return [
            "\(response.status) \(response.httpVersion), the server's CA is trusted",
            "TLS ready \(time(secured - connected)) after TCP, first byte after \(time(hop.firstByte))",
        ]
    }

    private func untrustedServer(_ agent: Agent) async throws -> [String] {
        try await failure(agent, Request("https://127.0.0.1:\(secure.port)/cities"), with: .tlsUntrusted)
    }

    private func notFound(_ agent: Agent) async throws -> [String] {
        try await failure(agent, Request("villages"), with: .status)
    }

    /// Connects to the port of a server that has just ended, so that no server uses it.
    private func closedPort(_ agent: Agent) async throws -> [String] {
        guard let port = DemoServer()?.port else { throw Unexpected(description: "no second server") }
        return try await failure(agent, Request("http://127.0.0.1:\(port)/"), with: .refused)
    }

    // MARK: Checks

    private func expect(_ condition: Bool, _ message: @autoclosure () -> String) throws(Unexpected) {
        if !condition {
            throw Unexpected(description: message())
        }
    }

    private func failure(
        _ agent: Agent, _ request: Request<[City]>, with code: NetError.Code
    ) async throws -> [String] {
        let result: Result<Response<[City]>, any Error>
        do {
            result = .success(try await agent.send(request))
        } catch {
            result = .failure(error)
        }
        let error = try failure(of: result, with: code)
        return ["\(error.code): \(error.message)"]
    }

    private func failure<Value>(
        of result: Result<Response<Value>, any Error>, with code: NetError.Code
    ) throws(Unexpected) -> NetError {
        switch result {
        case .success(let response):
            throw Unexpected(description: "status \(response.status) instead of a failure")
        case .failure(let error):
            guard let error = error as? NetError, error.code == code else {
                throw Unexpected(description: "\(error) instead of \(code)")
            }
            return error
        }
    }

    private func time(_ duration: Duration?) -> String {
        duration.map(Format.milliseconds) ?? "?"
    }

    private func path(of url: String) -> String {
        "/" + url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true).dropFirst(2).joined()
    }
}
