import NetKit

extension Option {
    /// The request.
    static let asking: [Option] = [
        value("X", "request") { $0.method = $1 },
        value("H", "header") { (arguments, text) throws(UsageError) in
            arguments.headers.append(try OptionValue.headers(text, of: "-H", number: arguments.headers.count + 1))
        },
        value("d", "data") { $0.data.append(.init(text: $1)) },
        value(nil, "data-raw") { $0.data.append(.init(text: $1, kind: .raw)) },
        value(nil, "data-binary") { $0.data.append(.init(text: $1, kind: .whole)) },
        value(nil, "data-urlencode") { $0.data.append(.init(text: $1, kind: .encoded)) },
        value(nil, "json") { $0.data.append(.init(text: $1, kind: .json)) },
        flag("G", "get", \.sendsDataInURL),
        value("F", "form") { (arguments, text) throws(UsageError) in
            arguments.form += try FormField.parsed(text)
            arguments.formWords += ["-F", text]
        },
        value(nil, "form-string") { (arguments, text) throws(UsageError) in
            arguments.form.append(try FormField(literal: text))
            arguments.formWords += ["--form-string", text]
        },
        // curl has two names for standard input. The second reads without blocking, which nk always does.
        value("T", "upload-file") { $0.uploads.append($1 == "." ? "-" : $1) },
        flag("I", "head", \.asksForHead),
        value("r", "range") { (arguments, text) throws(UsageError) in
            arguments.range = try OptionValue.range(text)
            if arguments.range != text {
                arguments.warnings.append("-r '\(text)' has no '-': it is taken for '\(text)-'")
            }
        },
        value("z", "time-cond") { $0.timeCondition = $1 },
        flag("g", "globoff", undo: { _ in }) { _ in },  // Brackets and braces in a URL are always literal.
        flag("L", "location", \.followsRedirects),
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
        flag(nil, "compressed", \.isCompressed),
        flag(nil, "path-as-is", \.keepsDotSegments),
        value(nil, "expect") { $0.shapePath = $1 },
    ]

    /// Authentication and cookies.
    static let access: [Option] = [
        value("u", "user") { (arguments, text) throws(UsageError) in
            arguments.login = try OptionValue.login(text, of: "-u")
        },
        flag(nil, "digest", \.usesDigest),
        value(nil, "oauth2-bearer") { (arguments, text) throws(UsageError) in
            arguments.token = try OptionValue.token(text)
        },
        flag("n", "netrc", undo: { $0.netrc = $0.netrc == .home ? nil : $0.netrc }) { $0.netrc = $0.netrc ?? .home },
        value(nil, "netrc-file") { $0.netrc = .file($1) },
        value("b", "cookie") { arguments, text in
            // As in curl: a file whose name contains "=".
            if let path = text.behind("@") {
                arguments.cookieFiles.append(path)
            } else if text.unicodeScalars.contains("=") {
                arguments.cookies.append(text)
            } else {
                arguments.cookieFiles.append(text)
            }
        },
        value("c", "cookie-jar") { $0.cookieJar = $1 },
        flag("j", "junk-session-cookies", \.dropsSessionCookies),
        value("E", "cert") { $0.certificate = OptionValue.certificate($1) },
        value(nil, "key") { $0.key = $1 },
        value(nil, "cacert") { $0.authorityFile = $1 },
        flag("k", "insecure", \.isInsecure),
    ]

    private static func proxy(_ long: String, scheme: String) -> Option {
        value(nil, long) { (arguments, text) throws(UsageError) in
            arguments.proxy = try OptionValue.proxy(text, scheme: scheme)
        }
    }

    /// The connection.
    static let network: [Option] = [
        value("x", "proxy") { (arguments, text) throws(UsageError) in
            arguments.proxy = try OptionValue.proxy(text)
        },
        proxy("socks4", scheme: "socks4://"),
        proxy("socks4a", scheme: "socks4a://"),
        proxy("socks5", scheme: "socks5://"),
        proxy("socks5-hostname", scheme: "socks5h://"),
        flag("p", "proxytunnel", \.usesTunnel),
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
        flag("0", "http1.0") { $0.protocolChoice = .http1_0 },
        flag(nil, "http1.1") { $0.protocolChoice = .http1 },
        flag(nil, "http2") { $0.protocolChoice = .automatic },
        flag(nil, "http2-prior-knowledge") { $0.protocolChoice = .http2PriorKnowledge },
        flag(nil, "http3") { $0.protocolChoice = .http3 },
    ]

    /// Output.
    static let output: [Option] = [
        value("o", "output") { $0.outputs.append(.path($1)) },
        // After --remote-name-all the next URL's body is written to standard output. Otherwise there is nothing to
        // undo.
        flag("O", "remote-name", undo: { $0.outputs += $0.namesAll ? [.path("-")] : [] }) {
            $0.outputs.append(.remoteName(folder: ""))
        },
        flag(nil, "remote-name-all", \.namesAll),
        value(nil, "output-dir") { $0.outputFolder = $1 },
        flag(nil, "create-dirs", \.makesFolders),
        flag("R", "remote-time", \.keepsTime),
        flag(nil, "remove-on-error", undo: { _ in }) { _ in },  // An incomplete file is never created.
        flag("N", "no-buffer", undo: { _ in }) { _ in },  // Received data is always written immediately.
        flag("i", "include", \.showsHead),
        value("D", "dump-header") { $0.headPath = $1 },
        value("w", "write-out") { $0.writeOut = $1 },
        flag(nil, "timing", \.showsTiming),
        value(nil, "timing-svg") { $0.timingPath = $1 },
        value(nil, "har") { $0.archivePath = $1 },
        flag(nil, "curl", \.printsCurl),
        flag("v", "verbose", \.isVerbose),
        flag("s", "silent", \.isSilent),
        flag("S", "show-error", \.showsErrors),
        flag("f", "fail", \.failsOnStatus),
        flag(nil, "fail-with-body", \.failsWithBody),
        flag(nil, "no-progress-meter", \.hidesProgress),
        flag("#", "progress-bar", undo: { _ in }) { _ in },  // The progress is always a bar.
        flag("q", "disable", undo: { _ in }) { _ in },  // There is no configuration file.
        flag("Z", "parallel", \.isParallel),
        flag("h", "help", undo: { $0.wantsHelp = false }) { $0.wantsHelp = true },
        flag("V", "version", undo: { $0.wantsVersion = false }) { $0.wantsVersion = true },
    ]

    /// Limits and retries.
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
        flag(nil, "retry-all-errors", \.retriesAllErrors),
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
