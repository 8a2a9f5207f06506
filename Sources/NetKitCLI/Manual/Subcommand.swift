/// A subcommand, as described by completions, the manual page and its own help.
struct Subcommand: Sendable {
    struct Option: Sendable {
        let short: Character?
        /// Without the hyphens.
        let long: String
        /// The name of the value; `nil` for a flag. A name with FILE or DIR is completed with paths, and `a|b` with its
        /// words.
        let value: String?
        let summary: String

        init(_ short: Character?, _ long: String, _ value: String?, _ summary: String) {
            (self.short, self.long, self.value, self.summary) = (short, long, value, summary)
        }

        /// Creates an option of nk without a subcommand.
        init(_ option: NetKitCLI.Option) {
            let text = NetKitCLI.Option.texts[option.long] ?? ("", "")
            self.init(option.short, option.long, text.value.isEmpty ? nil : text.value, text.summary)
        }

        /// The spellings that exist, such as "-H" and "--header".
        var spellings: [String] { (short.map { ["-\($0)"] } ?? []) + ["--\(long)"] }

        /// "-H, --header VALUE" as in the help; long spellings are aligned.
        var front: String {
            (short == nil ? "    " : "") + spellings.joined(separator: ", ") + (value.map { " \($0)" } ?? "")
        }
    }

    let name: String
    let summary: String
    /// The arguments after the options.
    let operands: String
    /// Words that may come first, before paths.
    var actions: [String] = []
    var options: [Option] = []

    /// One aligned row for each option, as in the help.
    var optionLines: String {
        let width = options.map(\.front.count).max() ?? 0
        return options.map { "  \(Format.left($0.front, width))   \($0.summary)" }.joined(separator: "\n")
    }

    /// All options of nk without a subcommand.
    static let fetchOptions = NetKitCLI.Option.all.map(Option.init)
}

extension Subcommand {
    private static let help = Option("h", "help", nil, "tells what there is")

    static let serve = Subcommand(
        name: "serve", summary: "serves the files of a folder", operands: "[DIR]",
        options: ListeningWords.options + [help])

    static let mock = Subcommand(
        name: "mock", summary: "answers as a file says, for tests", operands: "FILE",
        options: ListeningWords.options + [.init(nil, "count", "N", "ends after N replies"), help])

    static let completions = Subcommand(
        name: "completions", summary: "prints completions for a shell", operands: "bash|zsh|fish",
        actions: ["bash", "zsh", "fish"], options: [help])

    static let manual = Subcommand(
        name: "manual", summary: "prints this manual page", operands: "", options: [help])

    /// All subcommands, by name.
    static let all: [Subcommand] = [
        .init(
            name: "cache", summary: "lists, shows, removes and checks what is cached", operands: "ACTION DIR [NAME...]",
            actions: ["list", "show", "rm", "stats", "verify"],
            options: [
                .init(nil, "all", nil, "rm: everything"), .init(nil, "host", "HOST", "rm: what came from a host"),
                .init(nil, "tag", "TAG", "rm: what has a tag"), help,
            ]),
        completions,
        .init(
            name: "demo", summary: "walks through the library, on a server of its own", operands: "", options: [help]),
        .init(
            name: "downloads", summary: "lists, resumes and removes partial downloads", operands: "ACTION DIR",
            actions: ["list", "resume", "purge"],
            options: [
                .init("H", "header", "'Name: value'", "resume: a field to send"),
                .init(nil, "segments", "N", "resume: ranges at once"),
                .init(nil, "trust-server", nil, "resume: also without a strong validator"),
                .init(nil, "older-than", "DAYS", "purge: what is older"), help,
            ]),
        .init(
            name: "image", summary: "gets an image, tells what it is, writes it as a PNG", operands: "URL",
            options: [
                .init("o", "output", "FILE", "writes it as a PNG"), .init(nil, "max", "WxH", "scales it down to fit"),
                .init(nil, "max-pixels", "N", "refuses more pixels"),
                .init(nil, "ignore-orientation", nil, "leaves it as it is stored"),
                .init(nil, "preview", "auto|yes|no", "shows it in half blocks"),
                .init("H", "header", "'Name: value'", "a field to send"),
                .init("k", "insecure", nil, "believes every certificate"), help,
            ]),
        .init(
            name: "join", summary: "prints the URL of a path under a base URL", operands: "BASE PATH",
            options: [.init(nil, "keep-base-path", nil, "a PATH that begins with / goes on from the base's"), help]),
        .init(
            name: "key", summary: "prints the cache key of a request", operands: "METHOD URL",
            options: [
                .init("H", "header", "'Name: value'", "a field that chooses the response"),
                .init(nil, "params", "JSON", "parameters: an object or an array"),
                .init("d", "data", "DATA", "a body, as it is"), .init(nil, "user", "NAME", "whose response it is"),
                .init(nil, "explain", nil, "prints the description instead"), help,
            ]),
        manual, mock,
        .init(
            name: "multipart", summary: "writes a multipart/form-data body", operands: "",
            options: [
                .init("F", "form", "PART", "a field or file, as with nk -F"),
                .init(nil, "form-string", "NAME=VALUE", "a field whose value is taken as it is"),
                .init(nil, "boundary", "TEXT", "the boundary"), help,
            ]),
        .init(
            name: "parts", summary: "takes a multipart answer apart as it arrives", operands: "URL",
            options: [
                .init("o", "into", "DIR", "writes the parts there"), .init("c", "count", "N", "ends after N parts"),
                .init(nil, "max-bytes", "N", "refuses a larger part"),
                .init("H", "header", "'Name: value'", "a field to send"),
                .init("k", "insecure", nil, "believes every certificate"), help,
            ]),
        .init(
            name: "path", summary: "tells how the internet, or a host, is reached", operands: "[HOST]",
            options: [
                .init("w", "watch", nil, "a line for each change"),
                .init(nil, "count", "N", "with --watch: ends after N lines"), help,
            ]),
        .init(
            name: "pins", summary: "shows a chain, and a line to pin it", operands: "HOST[:PORT]|FILE",
            options: [
                .init(nil, "cacert", "FILE", "believes these authorities alone"),
                .init("x", "proxy", "URL", "asks through a proxy"), help,
            ]),
        .init(
            name: "query", summary: "writes JSON objects as query strings", operands: "",
            options: [
                .init(nil, "arrays", "brackets|indexed|repeat|comma", "how arrays are written"),
                .init(nil, "nested", "brackets|dots", "how objects are written"),
                .init(nil, "booleans", "numbers|words", "how booleans are written"),
                .init(nil, "spaces", "percent|plus", "how spaces are written"),
                .init(nil, "order", "sorted|given", "the order of keys"),
                .init(nil, "set", "NAME", "the array NAME is a set"),
                .init(nil, "url", "URL", "puts the query into a URL"), help,
            ]),
        .init(
            name: "run", summary: "sends the requests that a file describes", operands: "FILE",
            options: [.init(nil, "json", nil, "prints one JSON object instead"), help]),
        serve,
        .init(
            name: "trust", summary: "judges a chain as a handshake would", operands: "",
            options: [
                .init(nil, "host", "HOST", "the name or address in the URL"),
                .init(nil, "chain", "FILE", "certificates as the server sends them"),
                .init(nil, "ca", "FILE", "believes these authorities alone"),
                .init(nil, "port", "N", "the port (443)"), .init(nil, "time", "T", "as of then"),
                .init(nil, "pin", "[HOST=]PIN", "asks for this key"),
                .init(nil, "pin-report-only", nil, "tells of pins that do not match, and allows"),
                .init(nil, "crlfile", "FILE", "revocation lists"),
                .init(nil, "strict", nil, "demands the form of RFC 5280 and of public servers"),
                .init(nil, "max-chain", "N", "certificates of the chain at most"),
                .init("k", "insecure", nil, "accepts every chain and name"), help,
            ]),
        .init(
            name: "validate", summary: "tells whether texts are JSON, and of a shape", operands: "[FILE...]",
            options: [
                .init(nil, "shape", "FILE", "a shape that each text has to match"),
                .init(nil, "lenient-null", nil, "null passes as any member"), help,
            ]),
    ]
}
