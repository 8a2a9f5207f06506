import NetKit

/// Runs a command line: fetches its URLs, in order or in parallel, with shared options.
struct Session {
    /// The same limit as curl's -Z.
    private static let maxParallel = 50

    private let arguments: Arguments
    private let console: Console
    private let turn = Turn()
    /// The results of report-only pins, printed after each URL.
    private let pinReports: Lock<[String]>
    private let writeOut: WriteOut?
    private let layers: Layers

    /// Reads passwords and the files of options.
    init(_ arguments: Arguments) throws(Failure) {
        var arguments = arguments
        try Self.complete(&arguments.login, of: "the server")
        try Self.complete(&arguments.proxyLogin, of: "the proxy")
        try arguments.readInputs()
        try Self.checkFiles(arguments)
        let told = Lock<[String]>([])
        if arguments.trust.reportsOnly {
            arguments.trust.observer = TrustObserver(report: { event in
                told.withLock { $0.append(event.verdict.message) }
            })
        }
        pinReports = told
        self.arguments = arguments
        let console = Console(showsProgress: Self.showsProgress(arguments))
        self.console = console
        let isSilent = arguments.isSilent
        layers = try Layers(arguments) { message in
            if !isSilent {
                console.say("nk: warning: \(Verbose.printable(message))")
            }
        }
        writeOut = try arguments.writeOut.map { text throws(Failure) in WriteOut(try Self.format(text)) }
    }

    /// Rejects a file that is written at the end and would replace a body or another output. Files that are appended to
    /// may be shared.
    private static func checkFiles(_ arguments: Arguments) throws(Failure) {
        var earlier = zip(arguments.outputs, arguments.urls).map { output, url in
            switch output {
            case .path(let path): (option: "the body", path: path)
            case .remoteName(let folder): (option: "the body", path: folder + ((try? Output.remoteName(of: url)) ?? ""))
            }
        }
        for (option, path) in arguments.filesAtTheEnd where OutputFile.isReplaced(path) {
            if let other = earlier.first(where: { OutputFile.areOne($0.path, path) }) {
                let advice = option == "-D" ? ": -i writes both to where -o says" : ""
                throw Failure(ExitCode.usage, "\(option) and \(other.option) name one file, \(path)\(advice)")
            }
            earlier.append((option, path))
        }
    }

    private static func complete(_ login: inout Login?, of whom: String) throws(Failure) {
        guard let user = login?.user, login?.password == nil else { return }
        guard let password = Password.read("Password of \(Verbose.printable(user)) for \(whom): ") else {
            throw Failure(ExitCode.usage, "no password for \(user), and standard input is no terminal to ask at")
        }
        login?.password = password
    }

    /// Progress lines and a body cannot share one terminal.
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
            // As in curl: line ends in the file are removed.
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
            warn("-z '\(text)' is neither a date nor a file that is there: nothing is asked of the time")
        }
        for line in arguments.warnings + arguments.trust.warnings {
            warn(line)
        }
        var configuration = Agent.Configuration()
        // Only the command line sets the User-Agent.
        configuration.userAgent = nil
        configuration.addressFamily = arguments.addressFamily
        configuration.interceptors = layers.interceptors
        configuration.observers = layers.observers
        let keepsCookies = arguments.cookieJar != nil || !arguments.cookieFiles.isEmpty
        configuration.cookies = keepsCookies ? .memory : .off
        configuration.netrc = arguments.leavesOut("Authorization") ? .off : arguments.netrc ?? .off
        let agent = Agent(configuration)
        do throws(Failure) {
            try await layers.checkStore()
            try loadCookies(into: agent)
        } catch {
            await agent.shutdown()
            return complain(error)
        }
        let drawing = Task { await console.keepDrawing() }
        let ended = arguments.isParallel ? await together(agent) : await inTurn(agent)
        drawing.cancel()
        await drawing.value
        var code = ended.first { $0.exitCode != ExitCode.success }?.exitCode ?? ExitCode.success
        if let fault = await finish(agent, ended), code == ExitCode.success {
            code = fault
        }
        await layers.caching?.finish()
        await agent.shutdown()
        return code
    }

    /// Prints the equivalent curl commands without sending anything.
    private func printCurlLines() -> Int32 {
        // curl creates the form and chooses its method.
        var plain = arguments
        plain.form = []
        let end = arguments.wordsForCurl.map { " " + CurlCommand.quoted($0) }.joined()
        for index in arguments.urls.indices {
            do throws(Failure) {
                let plan = try Plan(Job(index, of: plain), of: plain)
                let line = plan.request.curlLine(hiding: nil) + end + "\n"
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

    private typealias Ended = (exitCode: Int32, heads: [UInt8], metrics: Metrics)

    private func inTurn(_ agent: Agent) async -> [Ended] {
        var ended: [Ended] = []
        for index in arguments.urls.indices where !Task.isCancelled {
            ended.append(await fetch(index, agent))
        }
        return ended
    }

    private func together(_ agent: Agent) async -> [Ended] {
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
        let fetch = Fetch(job: job, arguments: arguments, agent: agent, console: console, turn: turn)
        var (account, heads) = await fetch.run()
        console.end(index)
        for line in pinReports.withLock({ told in
            defer { told = [] }; return told
        }) {
            warn(line)
        }
        if Interrupt.caught != nil {
            return (account.exitCode, heads, account.metrics)
        }
        if account.exitCode != ExitCode.success, let message = account.message {
            complain(named(message, index), exitCode: account.exitCode)
        }
        if arguments.showsTiming {
            console.say(Timing.lines(of: account.metrics, width: min(100, Window.size.columns)))
        }
        if let fault = await write(account), account.exitCode == ExitCode.success {
            account.exitCode = fault
        }
        return (account.exitCode, heads, account.metrics)
    }

    private func write(_ account: Account) async -> Int32? {
        guard let written = writeOut?.written(for: account) else { return nil }
        console.say(text: written.errors)
        if written.outputBytes.isEmpty {
            return nil
        }
        await turn.take()
        defer { turn.give() }
        do throws(SystemError) {
            try Terminal.write(written.outputBytes.span, to: Terminal.standardOutput)
            return nil
        } catch {
            return complain(Failure(writing: error, to: nil))
        }
    }

    // MARK: Shared state

    /// A missing file is not an error, as in curl: -b and -c may name a file that will be written. An unreadable cookie
    /// jar is an error, because its cookies would be lost at the end.
    private func loadCookies(into agent: Agent) throws(Failure) {
        for path in arguments.cookieFiles where !path.isEmpty {
            let isJar = arguments.cookieJar.map { $0 == path || InputFile.areOne($0, path) } ?? false
            guard let file = isJar ? try readJar(path) : readCookies(path) else { continue }
            if file.foreignLines > 0 {
                let lines = file.foreignLines == 1 ? "a line" : "\(file.foreignLines) lines"
                warn("\(lines) of \(path) cannot be read: no cookie in the Netscape format")
            }
            do throws(NetError) {
                let kept = file.cookies.filter { !arguments.dropsSessionCookies || $0.expires != nil }
                try agent.setCookies(kept)
            } catch {
                if isJar {
                    throw Failure(ExitCode.read, "cannot read \(path): \(error.message)")
                }
                warn("the cookies of \(path) are not used: \(error.message)")
            }
        }
    }

    private func readJar(_ path: String) throws(Failure) -> CookieFile.Contents? {
        do throws(NetError) {
            // Standard input and /dev/null contain no cookies that nk wrote.
            return path == "-" || InputFile.isDevice(path) ? readCookies(path) : try CookieFile.readJar(path)
        } catch  where SystemError(number: Int32(clamping: error.nativeCode)).isMissingFile {
            return nil  // the directory is missing too, so saving will fail
        } catch {
            throw Failure(ExitCode.read, "cannot read the cookie jar: \(error.message)")
        }
    }

    /// Returns `nil` with a warning for a file that cannot be read.
    private func readCookies(_ path: String) -> CookieFile.Contents? {
        do throws(SystemError) {
            return try CookieFile.read(path)
        } catch {
            warn("cannot read cookies from \(path): \(error.message)")
            return nil
        }
    }

    /// Writes the remaining output. Returns the exit code of a failure.
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
        if let path = arguments.archivePath, let recorder = layers.recorder, let archive = try? recorder.archive() {
            let text = String(decoding: Array(archive), as: UTF8.self) + "\n"
            let fault = save(to: path) { () throws(SystemError) in
                try path == "-"
                    ? Terminal.write(text, to: Terminal.standardOutput) : OutputFile.write(text, to: path, mode: 0o600)
            }
            code = fault ?? code
        }
        if let path = arguments.cookieJar, let cookies = try? await agent.cookies() {
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

    private func warn(_ message: String) {
        if !arguments.isSilent {
            console.say("nk: warning: \(Verbose.printable(message))")
        }
    }

    /// With several URLs, adds the URL to a message that does not contain it.
    private func named(_ message: String, _ index: Int) -> String {
        let url = arguments.urls[index]
        let name = url.isEmpty ? "URL number \(index + 1)" : WrittenURL(url).shown
        return arguments.urls.count == 1 || message.contains(name) ? message : "\(name): \(message)"
    }

    private func complain(_ failure: Failure) -> Int32 {
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
