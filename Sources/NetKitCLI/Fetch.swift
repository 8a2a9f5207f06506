import NetKit

/// One request as the command line describes it, and what becomes of its response.
struct Fetch {
    private let arguments: Arguments
    private let writesToFile: Bool

    init(_ arguments: Arguments) {
        self.arguments = arguments
        writesToFile = arguments.outputPath != nil && arguments.outputPath != "-"
    }

    /// Returns the exit code.
    func run() async -> Int32 {
        let request: Request<Bytes>
        do throws(Failure) {
            request = try made()
        } catch {
            return complain(error.message, exitCode: error.exitCode)
        }
        let agent = Agent()
        let code: Int32
        do throws(NetError) {
            code = finish(try await agent.send(request), to: request)
        } catch {
            code = finish(error, to: request)
        }
        await agent.shutdown()
        return code
    }

    private struct Failure: Error {
        let exitCode: Int32
        let message: String
    }

    // MARK: The request

    private func made() throws(Failure) -> Request<Bytes> {
        let body = try self.body()
        let method = arguments.method ?? (arguments.asksForHead ? "HEAD" : body != nil ? "POST" : "GET")
        var request = Request<Bytes>(arguments.url, method: Method(rawValue: method), headers: headers, body: body)
        request.limits = limits
        request.redirects = arguments.followsRedirects ? .follow : .return
        request.trust = TrustPolicy(
            roots: arguments.authorityFile.map { .file($0) } ?? .system, acceptsAnything: arguments.isInsecure)
        request.protocolChoice = arguments.protocolChoice
        request.acceptsCodings = arguments.isCompressed
        request.addressOverrides = arguments.overrides
        return request
    }

    /// curl's defaults, and over them what -H says.
    private var headers: Headers {
        let sendsJSON = arguments.data.contains { $0.isJSON }
        var headers = Headers()
        let userAgent = arguments.userAgent ?? "nk/\(Versions.nk)"
        if !userAgent.isEmpty {
            headers.append(name: "User-Agent", value: userAgent)
        }
        headers.append(name: "Accept", value: sendsJSON ? "application/json" : "*/*")
        if !arguments.data.isEmpty {
            headers.append(
                name: "Content-Type", value: sendsJSON ? "application/json" : "application/x-www-form-urlencoded")
        }
        for change in arguments.headers {
            switch change {
            case .leaveOut(let name): headers[name] = nil
            case .send(let field): headers[field.name] = nil
            }
        }
        for case .send(let field) in arguments.headers {
            headers.append(name: field.name, value: field.value)
        }
        return headers
    }

    /// The pieces of -d are joined by "&", those of --json are not. A file of -d loses its line ends, as in curl.
    private func body() throws(Failure) -> Body? {
        if arguments.data.isEmpty {
            return nil
        }
        var bytes: [UInt8] = []
        for (index, piece) in arguments.data.enumerated() {
            if index > 0 && !piece.isJSON {
                bytes.append(UInt8(ascii: "&"))
            }
            if let file = piece.file {
                do throws(SystemError) {
                    let contents = try Terminal.contents(of: file)
                    bytes += piece.isJSON ? contents : contents.filter { $0 != 13 && $0 != 10 && $0 != 0 }
                } catch {
                    let name = file == "-" ? "standard input" : file
                    throw Failure(exitCode: ExitCode.read, message: "cannot read \(name): \(error.message)")
                }
            } else {
                bytes += piece.text.utf8
            }
        }
        return Body(Bytes(bytes))
    }

    /// The library's limits stay, but for those that would surprise a user of curl: a body may have 2 GiB, a file may
    /// take its time, and --max-time alone rules where it is given.
    private var limits: Limits {
        var limits = Limits()
        limits.maxBodyBytes = arguments.maxBodyBytes ?? 2 << 30
        limits.maxRedirects = arguments.maxRedirects
        if let connect = arguments.connectLimit {
            limits.connect = connect
        }
        if let total = arguments.totalLimit {
            limits.total = total
            limits.firstByte = nil
            limits.idle = nil
        } else if writesToFile {
            limits.total = nil
        }
        return limits
    }

    // MARK: The response

    private func finish(_ response: Response<Bytes>, to request: Request<Bytes>) -> Int32 {
        showTrace(of: request, response.metrics, headers: response.headers)
        let isRefused = arguments.failsOnStatus && response.status >= 400
        if let fault = write(response, withBody: !isRefused) {
            return complain(fault, exitCode: ExitCode.write)
        }
        if isRefused {
            return complain("\(response.url) answered with status \(response.status)", exitCode: ExitCode.badStatus)
        }
        return ExitCode.success
    }

    /// What had arrived goes to standard output, as with curl; a file is written whole or not at all.
    private func finish(_ error: NetError, to request: Request<Bytes>) -> Int32 {
        showTrace(of: request, error.metrics, headers: error.response?.headers ?? [:])
        let hasUsefulBody = error.code != .bodyTooLarge && error.code != .tooManyRedirects
        if let response = error.response, !writesToFile {
            _ = write(response, withBody: hasUsefulBody)
        }
        return complain(error.message, exitCode: ExitCode.of(error))
    }

    private func write(_ response: Response<Bytes>, withBody hasBody: Bool) -> String? {
        var pieces: [OutputPiece] = []
        if arguments.showsHead || arguments.asksForHead {
            pieces.append(.text(Output.head(of: response)))
        }
        if hasBody && !arguments.asksForHead {
            pieces.append(.bytes(response.bytes))
        }
        if pieces.isEmpty {
            return nil
        }
        return Output.write(pieces, to: arguments.outputPath)
    }

    private func showTrace(of request: Request<Bytes>, _ metrics: Metrics, headers: Headers) {
        if arguments.isVerbose {
            for line in Verbose.lines(of: request, metrics, headers: headers) {
                Terminal.complain(line)
            }
        }
    }

    private func complain(_ message: String, exitCode: Int32) -> Int32 {
        if !arguments.isSilent || arguments.showsErrors {
            Terminal.complain("nk: (\(exitCode)) \(Verbose.printable(message))")
        }
        return exitCode
    }
}
