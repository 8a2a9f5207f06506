import NetKit

/// One option in curl's spelling, and what it changes.
struct Option: Sendable {
    enum Effect: Sendable {
        case flag(@Sendable (inout Arguments) -> Void)
        case value(@Sendable (inout Arguments, String) throws(UsageError) -> Void)
    }

    let short: Character?
    let long: String
    let effect: Effect

    private static func flag(
        _ short: Character?, _ long: String, _ apply: @escaping @Sendable (inout Arguments) -> Void
    ) -> Option {
        Option(short: short, long: long, effect: .flag(apply))
    }

    private static func value(
        _ short: Character?, _ long: String,
        _ apply: @escaping @Sendable (inout Arguments, String) throws(UsageError) -> Void
    ) -> Option {
        Option(short: short, long: long, effect: .value(apply))
    }

    /// Every option there is; `nk --help` describes the same ones.
    static let all: [Option] = [
        value("X", "request") { $0.method = $1 },
        value("H", "header") { (arguments, text) throws(UsageError) in
            arguments.headers.append(try OptionValue.header(text))
        },
        value("d", "data") { $0.data.append(.init(text: $1, isJSON: false)) },
        value(nil, "json") { $0.data.append(.init(text: $1, isJSON: true)) },
        value("o", "output") { $0.outputPath = $1 },
        flag("i", "include") { $0.showsHead = true },
        flag("I", "head") { $0.asksForHead = true },
        flag("v", "verbose") { $0.isVerbose = true },
        flag("s", "silent") { $0.isSilent = true },
        flag("S", "show-error") { $0.showsErrors = true },
        flag("f", "fail") { $0.failsOnStatus = true },
        flag("L", "location") { $0.followsRedirects = true },
        flag("k", "insecure") { $0.isInsecure = true },
        value("A", "user-agent") { $0.userAgent = $1 },
        value(nil, "cacert") { $0.authorityFile = $1 },
        value(nil, "resolve") { (arguments, text) throws(UsageError) in
            arguments.overrides.append(try OptionValue.resolve(text))
        },
        value(nil, "connect-to") { (arguments, text) throws(UsageError) in
            arguments.overrides.append(try OptionValue.connectTo(text))
        },
        flag(nil, "http1.1") { $0.protocolChoice = .http1 },
        flag(nil, "http2") { $0.protocolChoice = .automatic },
        flag(nil, "compressed") { $0.isCompressed = true },
        value(nil, "max-redirs") { (arguments, text) throws(UsageError) in
            arguments.maxRedirects = try OptionValue.redirects(text)
        },
        value(nil, "max-filesize") { (arguments, text) throws(UsageError) in
            arguments.maxBodyBytes = try OptionValue.size(text)
        },
        value(nil, "connect-timeout") { (arguments, text) throws(UsageError) in
            arguments.connectLimit = try OptionValue.seconds(text, of: "--connect-timeout")
        },
        value("m", "max-time") { (arguments, text) throws(UsageError) in
            arguments.totalLimit = try OptionValue.seconds(text, of: "--max-time")
        },
        flag("h", "help") { $0.wantsHelp = true },
        flag("V", "version") { $0.wantsVersion = true },
    ]
}
