import NetKit

/// Runs a command line: fetches its URLs, in order or in parallel, with shared options.
struct TransferRunner {
    /// The largest number of parallel transfers, which is the same as for curl's -Z.
    private static let maxParallel = 50

    let arguments: Arguments
    let console: Console
    private let mutex = AsyncMutex()
    /// The messages of report-only pins, which are printed after each URL.
    private let pinReports: Lock<[String]>
    private let writeOut: WriteOut?
    private let commandInterceptors: CommandInterceptors

    /// Prepares the command line: prompts for passwords, reads the files that options name, and opens the cache.
    init(_ arguments: Arguments) async throws(Failure) {
        var arguments = arguments
        try Self.complete(&arguments.login, of: "the server")
        try Self.complete(&arguments.proxyLogin, of: "the proxy")
        try arguments.readInputs()
        try Self.checkFiles(arguments)
        let pinMessages = Lock<[String]>([])
        if arguments.trust.reportsOnly {
            arguments.trust.observer = TrustObserver(report: { event in
                pinMessages.withLock { $0.append(event.trustResult.message) }
            })
        }
        pinReports = pinMessages
        self.arguments = arguments
        let console = Console(showsProgress: Self.showsProgress(arguments))
        self.console = console
        let isSilent = arguments.isSilent
        commandInterceptors = try await CommandInterceptors(arguments) { message in
            if !isSilent {
                console.say("nk: warning: \(Verbose.printable(message))")
            }
        }
        writeOut = try arguments.writeOut.map { text throws(Failure) in WriteOut(try Self.format(text)) }
    }

    /// Throws an error if a file that is written at the end would replace a body or the file of another option.
    /// Devices, pipes and standard streams may be shared.
    private static func checkFiles(_ arguments: Arguments) throws(Failure) {
        var earlier = zip(arguments.outputs, arguments.urls).map { output, url in
            switch output {
            case .path(let path): (option: "the body", path: path)
            case .remoteName(let folder): (option: "the body", path: folder + ((try? Output.remoteName(of: url)) ?? ""))
            }
        }
        for (option, path) in arguments.filesAtTheEnd where OutputFile.isReplaced(path) {
            if let other = earlier.first(where: { OutputFile.areSame($0.path, path) }) {
                let advice = option == "-D" ? "; use -i for headers and body in one file" : ""
                throw Failure(ExitCode.usage, "\(option) and \(other.option) use the same file, \(path)\(advice)")
            }
            earlier.append((option, path))
        }
    }

    private static func complete(_ login: inout Login?, of server: String) throws(Failure) {
        guard let user = login?.user, login?.password == nil else { return }
        guard let password = Password.read("Password for \(Verbose.printable(user)) at \(server): ") else {
            throw Failure(
                ExitCode.usage, "no password for \(user), and no terminal to prompt for it; use NAME:PASSWORD")
        }
        login?.password = password
    }

    /// Returns true if progress is shown. It is not shown if a body is written to a terminal, because both would mix.
    private static func showsProgress(_ arguments: Arguments) -> Bool {
        let toFiles = arguments.urls.indices.allSatisfy { index in
            guard index < arguments.outputs.count else { return false }
            if case .path("-") = arguments.outputs[index] {
                return false
            }
            return true
        }
        return Window.canRedraw && !arguments.isSilent && !arguments.hidesProgress
            && (toFiles || Window.isRegularFile(Terminal.standardOutput))
    }

    private static func format(_ text: String) throws(Failure) -> String {
        guard let path = text.behind("@") else { return text }
        do throws(SystemError) {
            // As in curl, line ends in the file are removed.
            let bytes = try InputFile.contents(of: path).filter { $0 != 13 && $0 != 10 && $0 != 0 }
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            throw Failure(reading: error, from: path)
        }
    }

    /// Fetches the URLs. Returns the exit code of the first URL that failed.
    func run() async -> Int32 {
        if arguments.printsCurl {
            return printCurlLines()
        }
        for name in writeOut?.unknown ?? [] {
            warn("unknown -w variable '\(name)'")
        }
        if let text = arguments.timeCondition, arguments.condition == nil {
            warn("-z '\(text)' is neither a date nor an existing file; the request is sent without a condition")
        }
        let agent: Agent
        do throws(Failure) {
            agent = try await makeAgent()
        } catch {
            return complain(error)
        }
        let drawing =
            console.showsProgress
            ? Task(executorPreference: MainThreadExecutor.current) { await console.keepDrawing() } : nil
        let ended = arguments.isParallel ? await fetchInParallel(agent) : await fetchInOrder(agent)
        drawing?.cancel()
        await drawing?.value
        return await end(agent, ended, ended.first { $0.exitCode != ExitCode.success }?.exitCode ?? ExitCode.success)
    }

    /// Writes the files at the end and shuts the agent down. Returns the exit code.
    func end(_ agent: Agent, _ ended: [Ended], _ code: Int32) async -> Int32 {
        let fault = await finish(agent, ended)
        await commandInterceptors.caching?.finish()
        await agent.shutdown()
        return code == ExitCode.success ? fault ?? code : code
    }

    /// Prints the warnings about the command line, and creates its agent.
    func makeAgent() async throws(Failure) -> Agent {
        for line in arguments.warnings + arguments.trust.warnings {
            warn(line)
        }
        var configuration = Agent.Configuration()
        // The agent adds no User-Agent, because the request has the one of the command line.
        configuration.userAgent = nil
        configuration.addressFamily = arguments.addressFamily
        configuration.interceptors = commandInterceptors.interceptors
        configuration.observers = commandInterceptors.observers
        let keepsCookies = arguments.cookieJar != nil || !arguments.cookieFiles.isEmpty
        configuration.cookies = keepsCookies ? .memory : .off
        configuration.netrc = arguments.usesNetrc ? arguments.netrc ?? .off : .off
        let agent = Agent(configuration)
        do throws(Failure) {
            try await commandInterceptors.checkStore()
            try loadCookies(into: agent)
        } catch {
            await agent.shutdown()
            throw error
        }
        return agent
    }

    /// Prints the equivalent curl commands without sending anything.
    private func printCurlLines() -> Int32 {
        // The form is not part of the request, because curl creates it from its own arguments.
        var argumentsWithoutForm = arguments
        argumentsWithoutForm.form = []
        let end = arguments.wordsForCurl.map { " " + CurlCommand.quoted($0) }.joined()
        for index in arguments.urls.indices {
            do throws(Failure) {
                let transferRequest = try TransferRequest(
                    Job(index, of: argumentsWithoutForm), of: argumentsWithoutForm)
                let line = transferRequest.request.curl(hiding: nil) + end + "\n"
                do throws(SystemError) {
                    try Terminal.write(line, to: Terminal.standardOutput)
                } catch {
                    throw Failure(writing: error, to: nil)
                }
            } catch {
                return complain(Failure(error.exitCode, error.message.map { named($0, index) }))
            }
        }
        return ExitCode.success
    }

    // MARK: URLs

    typealias Ended = (exitCode: Int32, heads: [UInt8], metrics: Metrics)

    private func fetchInOrder(_ agent: Agent) async -> [Ended] {
        var ended: [Ended] = []
        for index in arguments.urls.indices where !Task.isCancelled {
            ended.append(await fetch(index, agent))
        }
        return ended
    }

    private func fetchInParallel(_ agent: Agent) async -> [Ended] {
        let count = arguments.urls.count
        return await withTaskGroup(of: (Int, Ended).self) { group in
            var ended: [Ended?] = Array(repeating: nil, count: count)
            for index in 0..<min(Self.maxParallel, count) {
                group.addTask { (index, await fetch(index, agent)) }
            }
            var next = min(Self.maxParallel, count)
            for await (index, one) in group {
                ended[index] = one
                if next < count, !Task.isCancelled {
                    let index = next
                    group.addTask { (index, await fetch(index, agent)) }
                    next += 1
                }
            }
            return ended.compactMap { $0 }
        }
    }

    private func fetch(_ index: Int, _ agent: Agent) async -> Ended {
        let job = Job(index, of: arguments)
        let fetch = URLTransfer(job: job, arguments: arguments, agent: agent, console: console, mutex: mutex)
        var (transferReport, heads) = await fetch.run()
        console.end(index)
        warnAboutPins()
        if Interrupt.caught != nil {
            return (transferReport.exitCode, heads, transferReport.metrics)
        }
        if transferReport.exitCode != ExitCode.success, let message = transferReport.message {
            complain(named(message, index), exitCode: transferReport.exitCode)
        }
        if arguments.showsTiming {
            console.say(Timing.lines(of: transferReport.metrics, width: min(100, Window.size.columns)))
        }
        if transferReport.exitCode == ExitCode.success, let fault = saveETag(of: transferReport) {
            transferReport.exitCode = fault
        }
        if let fault = await write(transferReport), transferReport.exitCode == ExitCode.success {
            transferReport.exitCode = fault
        }
        return (transferReport.exitCode, heads, transferReport.metrics)
    }

    /// Prints the reports about pins since the last call.
    func warnAboutPins() {
        for line in pinReports.withLock({ pinMessages in
            defer { pinMessages = [] }; return pinMessages
        }) {
            warn(line)
        }
    }

    private func write(_ transferReport: TransferReport) async -> Int32? {
        guard let output = writeOut?.written(for: transferReport) else { return nil }
        console.say(text: output.errors)
        if output.outputBytes.isEmpty {
            return nil
        }
        await mutex.lock()
        defer { mutex.unlock() }
        do throws(SystemError) {
            try Terminal.write(output.outputBytes.span, to: Terminal.standardOutput)
            return nil
        } catch {
            return complain(Failure(writing: error, to: nil))
        }
    }

    /// Writes the ETag of the response to the file of --etag-save. Without an ETag, the file stays as it is.
    private func saveETag(of report: TransferReport) -> Int32? {
        guard let path = arguments.etagOutput, let tag = report.headers["ETag"], !tag.isEmpty else { return nil }
        return save(to: path) { () throws(SystemError) in
            try path == "-"
                ? Terminal.write(tag + "\n", to: Terminal.standardOutput) : OutputFile.write(tag + "\n", to: path)
        }
    }

    // MARK: Files at the end

    /// Writes the files of options such as -D and -c. Returns the exit code if that fails.
    private func finish(_ agent: Agent, _ ended: [Ended]) async -> Int32? {
        var code: Int32?
        if let path = arguments.headPath, path != "-" {
            code = save(to: path) { () throws(SystemError) in
                if arguments.makesFolders {
                    try OutputFile.makeFolders(of: path)
                }
                try OutputFile.write(ended.flatMap(\.heads), to: path)
            }
        }
        if let path = arguments.timingPath {
            let picture = TimingPicture.text(of: ended.map(\.metrics))
            let fault = save(to: path) { () throws(SystemError) in
                try path == "-"
                    ? Terminal.write(picture, to: Terminal.standardOutput) : OutputFile.write(picture, to: path)
            }
            code = fault ?? code
        }
        if let path = arguments.archivePath, let recorder = commandInterceptors.recorder,
            let archive = try? recorder.archive()
        {
            let text = String(decoding: Array(archive), as: UTF8.self) + "\n"
            let fault = save(to: path) { () throws(SystemError) in
                try path == "-"
                    ? Terminal.write(text, to: Terminal.standardOutput) : OutputFile.write(text, to: path, mode: 0o600)
            }
            code = fault ?? code
        }
        if let path = arguments.cookieJar, let cookies = try? await agent.cookies.all() {
            code = save(to: path) { () throws(SystemError) in try CookieFile.write(cookies, to: path) } ?? code
        }
        return code
    }

    private func save(to path: String, _ write: () throws(SystemError) -> Void) -> Int32? {
        do throws(SystemError) {
            try write()
            return nil
        } catch {
            return complain(Failure(writing: error, to: path == "-" ? nil : path))
        }
    }

    func warn(_ message: String) {
        if !arguments.isSilent {
            console.say("nk: warning: \(Verbose.printable(message))")
        }
    }

    /// Returns the message of a URL. If there are several URLs and the message does not contain the URL, it is added.
    private func named(_ message: String, _ index: Int) -> String {
        let url = arguments.urls[index]
        let name = url.isEmpty ? "URL number \(index + 1)" : URLText(url).shown
        return arguments.urls.count == 1 || message.contains(name) ? message : "\(name): \(message)"
    }

    func complain(_ failure: Failure) -> Int32 {
        if let message = failure.message {
            complain(message, exitCode: failure.exitCode)
        }
        return failure.exitCode
    }

    private func complain(_ message: String, exitCode: Int32) {
        if !arguments.isSilent || arguments.showsErrors {
            console.say("nk: (\(exitCode)) \(Verbose.printable(message))")
        }
    }
}
