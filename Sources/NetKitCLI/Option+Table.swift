import NetKit

extension Option {
    /// The options of the request.
    static let request: [Option] = [
        value("X", "request") { $0.method = $1 },
        value("H", "header") { (arguments, text) throws(UsageError) in
            arguments.headers.append(try OptionValue.headers(text, of: "-H", number: arguments.headers.count + 1))
        },
        value("d", "data") { $0.data.append(.init(text: $1)) },
        value(nil, "data-raw") { $0.data.append(.init(text: $1, kind: .raw)) },
        value(nil, "data-binary") { $0.data.append(.init(text: $1, kind: .whole)) },
        value(nil, "data-urlencode") { $0.data.append(.init(text: $1, kind: .encoded)) },
        value(nil, "json") { $0.data.append(.init(text: $1, kind: .json)) },
        toggle("G", "get") { $0.sendsDataInURL = $1 },
        value("F", "form") { (arguments, text) throws(UsageError) in
            arguments.form += try FormField.parse(text)
            arguments.formWords += ["-F", text]
        },
        value(nil, "form-string") { (arguments, text) throws(UsageError) in
            arguments.form.append(try FormField(literal: text))
            arguments.formWords += ["--form-string", text]
        },
        // In curl, "-" and "." both stand for standard input; "." reads it without blocking, which nk always does.
        value("T", "upload-file") { $0.uploads.append($1 == "." ? "-" : $1) },
        toggle("I", "head") { $0.usesHeadMethod = $1 },
        value("r", "range") { (arguments, text) throws(UsageError) in
            arguments.range = try OptionValue.range(text)
            if arguments.range != text {
                arguments.warnings.append("-r '\(text)' has no '-'; using '\(text)-'")
            }
        },
        value("z", "time-cond") { $0.timeCondition = $1 },
        value(nil, "etag-compare") { $0.etagInput = $1 },
        value(nil, "etag-save") { $0.etagOutput = $1 },
        flag("g", "globoff", undo: { _ in }) { _ in },  // Brackets and braces in a URL are always literal.
        toggle("L", "location") { $0.followsRedirects = $1 },
        value(nil, "max-redirs") { (arguments, text) throws(UsageError) in
            arguments.maxRedirects = try OptionValue.redirects(text)
        },
        value(nil, "proto") { (arguments, text) throws(UsageError) in
            arguments.refusesPlain = try OptionValue.refusesPlain(text)
        },
        value("A", "user-agent") { $0.userAgent = $1 },
        value("e", "referer") { (arguments, text) throws(UsageError) in
            arguments.referer = try OptionValue.referer(text)
        },
        value(nil, "url") { $0.urls.append($1) },
        toggle(nil, "compressed") { $0.isCompressed = $1 },
        toggle(nil, "tr-encoding") { $0.isTransferCompressed = $1 },
        toggle(nil, "path-as-is") { $0.keepsDotSegments = $1 },
        value(nil, "expect") { (arguments, path) throws(UsageError) in
            try arguments.expect(.shape(path))
        },
        value(nil, "expect-schema") { (arguments, path) throws(UsageError) in
            try arguments.expect(.schema(path))
        },
    ]

    /// The options of authentication and cookies.
    static let access: [Option] = [
        value("u", "user") { (arguments, text) throws(UsageError) in
            arguments.login = try OptionValue.login(text, of: "-u")
        },
        toggle(nil, "anyauth") { $0.usesAnyMethod = $1 },
        flag(nil, "basic") {
            $0.usesDigest = false; $0.usesAnyMethod = false
        },
        toggle(nil, "digest") { $0.usesDigest = $1 },
        value(nil, "oauth2-bearer") { (arguments, text) throws(UsageError) in
            arguments.token = try OptionValue.token(text)
        },
        flag("n", "netrc", undo: { $0.netrc = $0.netrc == .home ? nil : $0.netrc }) { $0.netrc = $0.netrc ?? .home },
        value(nil, "netrc-file") { $0.netrc = .file($1) },
        flag(nil, "netrc-optional", undo: { $0.isNetrcOptional = false }) {
            $0.netrc = $0.netrc ?? .home
            $0.isNetrcOptional = true
        },
        value("b", "cookie") { arguments, text in
            // As in curl, "@" selects a file whose name contains "=".
            if let path = text.behind("@") {
                arguments.cookieFiles.append(path)
            } else if text.unicodeScalars.contains("=") {
                arguments.cookies.append(text)
            } else {
                arguments.cookieFiles.append(text)
            }
        },
        value("c", "cookie-jar") { $0.cookieJar = $1 },
        toggle("j", "junk-session-cookies") { $0.dropsSessionCookies = $1 },
    ]

    private static func proxy(_ long: String, scheme: String) -> Option {
        value(nil, long) { (arguments, text) throws(UsageError) in
            arguments.proxy = try OptionValue.proxy(text, scheme: scheme)
        }
    }

    /// The options of the connection.
    static let network: [Option] = [
        value("x", "proxy") { (arguments, text) throws(UsageError) in
            arguments.proxy = try OptionValue.proxy(text)
        },
        proxy("socks4", scheme: "socks4://"),
        proxy("socks4a", scheme: "socks4a://"),
        proxy("socks5", scheme: "socks5://"),
        proxy("socks5-hostname", scheme: "socks5h://"),
        toggle("p", "proxytunnel") { $0.usesTunnel = $1 },
        value("U", "proxy-user") { (arguments, text) throws(UsageError) in
            arguments.proxyLogin = try OptionValue.login(text, of: "-U")
        },
        value(nil, "proxy-header") { (arguments, text) throws(UsageError) in
            arguments.proxyHeaders.append(
                try OptionValue.proxyHeaders(text, number: arguments.proxyHeaders.count + 1))
        },
        value(nil, "noproxy") { $0.unproxied = OptionValue.list($1) },
        value(nil, "resolve") { (arguments, text) throws(UsageError) in
            arguments.resolved.append(try OptionValue.resolve(text))
        },
        value(nil, "connect-to") { (arguments, text) throws(UsageError) in
            arguments.connections.append(try OptionValue.connectTo(text))
        },
        value(nil, "unix-socket") { $0.unixSocket = $1 },
        flag("4", "ipv4") { $0.addressFamily = .ipv4 },
        flag("6", "ipv6") { $0.addressFamily = .ipv6 },
        value(nil, "dscp") { (arguments, text) throws(UsageError) in
            arguments.serviceClass = try OptionValue.serviceClass(text)
        },
        flag("0", "http1.0") { $0.httpVersionPolicy = .http1_0 },
        flag(nil, "http1.1") { $0.httpVersionPolicy = .http1 },
        flag(nil, "http2") { $0.httpVersionPolicy = .automatic },
        flag(nil, "http2-prior-knowledge") { $0.httpVersionPolicy = .http2PriorKnowledge },
        flag(nil, "http3") { $0.httpVersionPolicy = .http3IfPossible },
        flag(nil, "http3-only") { $0.httpVersionPolicy = .http3Only },
    ]

    /// The options of the output.
    static let output: [Option] = [
        value("o", "output") { $0.outputs.append(.path($1)) },
        // --no-remote-name after --remote-name-all writes the body of the next URL to standard output. Otherwise it has
        // no effect.
        flag("O", "remote-name", undo: { $0.outputs += $0.namesAll ? [.path("-")] : [] }) {
            $0.outputs.append(.remoteName(folder: ""))
        },
        toggle(nil, "remote-name-all") { $0.namesAll = $1 },
        value(nil, "output-dir") { $0.outputFolder = $1 },
        toggle(nil, "create-dirs") { $0.makesFolders = $1 },
        toggle("R", "remote-time") { $0.keepsTime = $1 },
        flag(nil, "remove-on-error", undo: { _ in }) { _ in },  // An incomplete file is never created.
        flag("N", "no-buffer", undo: { _ in }) { _ in },  // Received data is always written immediately.
        toggle("i", "include") { $0.showsHead = $1 },
        value("D", "dump-header") { $0.headPath = $1 },
        value("w", "write-out") { $0.writeOut = $1 },
        toggle(nil, "timing") { $0.showsTiming = $1 },
        value(nil, "timing-svg") { $0.timingPath = $1 },
        value(nil, "har") { $0.archivePath = $1 },
        toggle(nil, "curl") { $0.printsCurl = $1 },
        flag(nil, "pretty", undo: { $0.indentsJSON = false }) { $0.indentsJSON = true },
        flag(nil, "color", undo: { $0.usesColours = false }) { $0.usesColours = true },
        toggle("v", "verbose") { $0.isVerbose = $1 },
        toggle("s", "silent") { $0.isSilent = $1 },
        toggle("S", "show-error") { $0.showsErrors = $1 },
        toggle("f", "fail") { $0.failsOnStatus = $1 },
        toggle(nil, "fail-with-body") { $0.failsWithBody = $1 },
        toggle(nil, "no-progress-meter") { $0.hidesProgress = $1 },
        flag("#", "progress-bar", undo: { _ in }) { _ in },  // The progress is always a bar.
        flag("q", "disable", undo: { _ in }) { _ in },  // No file is read unless -K names it.
        value("K", "config") { (arguments, path) throws(UsageError) in try arguments.apply(configFile: path) },
        flag(":", "next") { $0.isFollowed = true },
        toggle("Z", "parallel") { $0.isParallel = $1 },
        flag("h", "help", undo: { $0.wantsHelp = false }) { $0.wantsHelp = true },
        flag("V", "version", undo: { $0.wantsVersion = false }) { $0.wantsVersion = true },
    ]

    /// The options of limits and retries.
    static let limits: [Option] = [
        value(nil, "max-filesize") { (arguments, text) throws(UsageError) in
            arguments.maxBodyBytes = try OptionValue.size(text, of: "--max-filesize")
        },
        value(nil, "limit-rate") { (arguments, text) throws(UsageError) in
            arguments.bytesPerSecond = try OptionValue.size(text, of: "--limit-rate")
        },
        value(nil, "connect-timeout") { (arguments, text) throws(UsageError) in
            arguments.connectLimit = try OptionValue.seconds(text, of: "--connect-timeout")
        },
        value("m", "max-time") { (arguments, text) throws(UsageError) in
            arguments.totalLimit = try OptionValue.seconds(text, of: "--max-time")
        },
        value(nil, "retry") { (arguments, text) throws(UsageError) in
            arguments.retries = try OptionValue.retries(text)
        },
        toggle(nil, "retry-all-errors") { $0.retriesAllErrors = $1 },
        flag(nil, "retry-connrefused", undo: { _ in }) { _ in },  // A refused connection is always retried.
        value(nil, "retry-delay") { (arguments, text) throws(UsageError) in
            arguments.retryDelay = try OptionValue.seconds(text, of: "--retry-delay")
        },
        value(nil, "retry-max-time") { (arguments, text) throws(UsageError) in
            arguments.retryLimit = try OptionValue.seconds(text, of: "--retry-max-time")
        },
        value(nil, "rate") { (arguments, text) throws(UsageError) in
            arguments.startInterval = try OptionValue.startInterval(text)
        },
    ]
}
