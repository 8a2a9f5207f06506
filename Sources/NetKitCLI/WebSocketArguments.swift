import NetKit

/// The arguments of `nk ws`: options of its own, and options of a request.
struct WebSocketArguments: Sendable {
    /// The options of a request that `nk ws` describes in its help. Others apply too.
    private static let shared = [
        "header", "user", "oauth2-bearer", "cookie", "insecure", "cacert", "pinnedpubkey", "proxy", "unix-socket",
        "connect-timeout", "location", "verbose", "silent",
    ]

    /// The options of this command; see ``Subcommand``.
    static let options: [Subcommand.Option] =
        [
            .init(nil, "subprotocol", "NAME", "Offer this subprotocol; repeat to offer more"),
            .init(nil, "json", nil, "Print each message as one line of JSON"),
            .init(nil, "binary", nil, "Send lines of hex digits as binary messages"),
            .init(nil, "ping-interval", "SECONDS", "Send a ping this often; 0: never"),
            .init(nil, "keep-open", nil, "Stay open at the end of standard input"),
            .init(nil, "count", "N", "Close after N received messages"),
        ] + Subcommand.fetchOptions.filter { shared.contains($0.long) }

    /// The options that only this command has.
    struct Settings: Sendable {
        var options = WebSocket.Options()
        /// The time between pings. If `nil`, the library sends pings only to a silent server.
        var pingInterval: Duration?
        var printsJSON = false
        var sendsBinary = false
        var staysOpen = false
        var maxMessages = Int.max

        /// Applies an option. Returns false for an option of a request.
        fileprivate mutating func take(_ word: String, _ rest: inout ArraySlice<String>) throws(UsageError) -> Bool {
            switch word {
            case "--subprotocol": options.protocols.append(try rest.takeValue(of: word))
            case "--json": printsJSON = true
            case "--binary": sendsBinary = true
            case "--keep-open": staysOpen = true
            case "--count": maxMessages = try rest.takeCount(of: word)
            case "--ping-interval":
                pingInterval = try OptionValue.seconds(try rest.takeValue(of: word), of: word)
                options.pingInterval = nil
                options.peerTimeout = pingInterval.map { max(.seconds(90), $0 * 3) }
            default: return false
            }
            return true
        }
    }

    /// The options of the request. There is one URL, with the scheme http or https.
    private(set) var request: Arguments
    let settings: Settings

    init(_ words: ArraySlice<String>) throws(UsageError) {
        var rest = words
        var settings = Settings()
        request = try Arguments(parsing: &rest) { (word, rest) throws(UsageError) in try settings.take(word, &rest) }
        settings.options.compresses = request.isCompressed
        self.settings = settings
        if request.isFollowed {
            throw UsageError("ws: --next has no meaning for a WebSocket; see nk ws --help")
        }
        if !request.wantsHelp {
            try check()
            request.urls = request.urls.map(Self.withHTTPScheme)
        }
    }

    /// Returns the URL with http or https instead of ws or wss, so that the options of requests treat it as theirs.
    private static func withHTTPScheme(_ url: String) -> String {
        let scheme = URLText(url).scheme
        switch scheme.lowercased() {
        case "ws://": return "http://" + url.dropFirst(scheme.count)
        case "wss://": return "https://" + url.dropFirst(scheme.count)
        default: return url
        }
    }

    private func check() throws(UsageError) {
        let unused: [(String, Bool)] = [
            ("-d", !request.data.isEmpty), ("-F", !request.form.isEmpty), ("-T", !request.uploads.isEmpty),
            ("-X", request.method != nil), ("-I", request.usesHeadMethod), ("-r", request.range != nil),
            ("-o", !request.outputs.isEmpty), ("-w", request.writeOut != nil), ("-D", request.headPath != nil),
            ("--curl", request.printsCurl), (request.expectedBody?.option ?? "", request.expectedBody != nil),
            ("--har", request.archivePath != nil), ("--cache", request.cache.isWanted),
        ]
        if let (option, _) = unused.first(where: { $0.1 }) {
            throw UsageError("ws: \(option) has no meaning for a WebSocket; see nk ws --help")
        }
        if request.urls.count != 1 {
            throw UsageError("ws accepts one URL; see nk ws --help")
        }
    }
}
