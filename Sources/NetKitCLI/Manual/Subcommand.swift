/// The description of a subcommand, from which completions, the manual page and the subcommand's help are generated.
struct Subcommand: Sendable {
    struct Option: Sendable {
        let short: Character?
        /// The long spelling, without hyphens.
        let long: String
        /// The name of the value, or `nil` for a flag. Completions offer paths if it contains FILE or DIR, and the
        /// words if it is a list such as `a|b`.
        let value: String?
        let summary: String

        init(_ short: Character?, _ long: String, _ value: String?, _ summary: String) {
            (self.short, self.long, self.value, self.summary) = (short, long, value, summary)
        }

        /// Creates the description of an option of nk without a subcommand.
        init(_ option: NetKitCLI.Option) {
            let text = NetKitCLI.Option.texts[option.long] ?? ("", "")
            self.init(option.short, option.long, text.value.isEmpty ? nil : text.value, text.summary)
        }

        /// The spellings that exist, such as "-H" and "--header".
        var spellings: [String] { (short.map { ["-\($0)"] } ?? []) + ["--\(long)"] }

        /// The spellings and the value as in the help, such as "-H, --header VALUE". An option without a short spelling
        /// is indented, so that long spellings are aligned.
        var front: String {
            (short == nil ? "    " : "") + spellings.joined(separator: ", ") + (value.map { " \($0)" } ?? "")
        }
    }

    let name: String
    let summary: String
    /// The arguments after the options.
    let operands: String
    /// The words of which the first operand must be one.
    var actions: [String] = []
    var options: [Option] = []

    /// The help for the options, with one aligned line for each.
    var optionLines: String {
        let width = options.map(\.front.count).max() ?? 0
        return options.map { "  \(Format.left($0.front, width))   \($0.summary)" }.joined(separator: "\n")
    }

    /// All options of nk without a subcommand.
    static let fetchOptions = NetKitCLI.Option.all.map(Option.init)
}

extension Subcommand {
    private static let help = Option("h", "help", nil, "Print this help")

    static let serve = Subcommand(
        name: "serve", summary: "Serve the files of a directory", operands: "[DIR]",
        options: ServerArguments.options + [.init(nil, "echo", nil, "Send bodies and messages back instead"), help])

    static let mock = Subcommand(
        name: "mock", summary: "Serve mock responses from a file", operands: "FILE",
        options: ServerArguments.options + [.init(nil, "count", "N", "Stop after N replies"), help])

    static let ws = Subcommand(
        name: "ws", summary: "Exchange messages over a WebSocket", operands: "URL",
        options: WebSocketArguments.options + [help])

    static let completions = Subcommand(
        name: "completions", summary: "Print shell completions", operands: "bash|zsh|fish",
        actions: ["bash", "zsh", "fish"], options: [help])

    static let manual = Subcommand(
        name: "manual", summary: "Print this manual page", operands: "", options: [help])

    /// All subcommands, by name.
    static let all: [Subcommand] = [
        .init(
            name: "cache", summary: "Inspect, check and clear a cache", operands: "ACTION DIR|URL [NAME...]",
            actions: ["list", "show", "rm", "stats", "verify"],
            options: [
                .init(nil, "all", nil, "Remove all entries (rm)"),
                .init(nil, "host", "HOST", "Remove the entries of a host (rm)"),
                .init(nil, "tag", "TAG", "Remove the entries with a tag (rm)"), help,
            ]),
        completions,
        .init(
            name: "demo", summary: "Demonstrate the library on a local server", operands: "", options: [help]),
        .init(
            name: "downloads", summary: "List, resume and remove partial downloads", operands: "ACTION DIR",
            actions: ["list", "resume", "purge"],
            options: [
                .init("H", "header", "'Name: value'", "Send this header (resume)"),
                .init(nil, "segments", "N", "Download in N parallel ranges (resume)"),
                .init(nil, "trust-server", nil, "Resume even without a strong validator (resume)"),
                .init(nil, "older-than", "DAYS", "Keep downloads newer than this (purge)"), help,
            ]),
        .init(
            name: "help", summary: "Explain a command, a group of options or an option", operands: "[WORD]",
            options: [help]),
        .init(
            name: "image", summary: "Inspect an image and convert it to PNG", operands: "URL",
            options: [
                .init("o", "output", "FILE", "Write the image as a PNG"),
                .init(nil, "max", "WxH", "Scale the image down to fit"),
                .init(nil, "max-pixels", "N", "Reject an image of more pixels"),
                .init(nil, "ignore-orientation", nil, "Do not apply the EXIF orientation"),
                .init(nil, "preview", "auto|yes|no", "Show the image as text"),
                .init("H", "header", "'Name: value'", "Send this header"),
                .init("k", "insecure", nil, "Accept any certificate, also a forged one"), help,
            ]),
        .init(
            name: "join", summary: "Resolve a path against a base URL", operands: "BASE PATH",
            options: [.init(nil, "keep-base-path", nil, "Append a PATH that begins with / to the base path"), help]),
        .init(
            name: "key", summary: "Print the cache key of a request", operands: "METHOD URL",
            options: [
                .init("H", "header", "'Name: value'", "Include this header"),
                .init(nil, "params", "JSON", "Include parameters: a JSON object or array"),
                .init("d", "data", "DATA", "Include this body"), .init(nil, "user", "NAME", "Include the user's name"),
                .init(nil, "explain", nil, "Print the canonical form instead"), help,
            ]),
        manual, mock,
        .init(
            name: "multipart", summary: "Write a multipart/form-data body", operands: "",
            options: [
                .init("F", "form", "PART", "Add a field or file, as with nk -F"),
                .init(nil, "form-string", "NAME=VALUE", "Add a field; @, < and ; have no meaning"),
                .init(nil, "boundary", "TEXT", "Use this boundary"), help,
            ]),
        .init(
            name: "parts", summary: "Split a multipart response into its parts", operands: "URL",
            options: [
                .init("o", "into", "DIR", "Write the parts to DIR"), .init("c", "count", "N", "Stop after N parts"),
                .init(nil, "max-bytes", "N", "Reject a larger part"),
                .init("H", "header", "'Name: value'", "Send this header"),
                .init("k", "insecure", nil, "Accept any certificate, also a forged one"), help,
            ]),
        .init(
            name: "path", summary: "Show the network path to the internet or a host", operands: "[HOST]",
            options: [
                .init("w", "watch", nil, "Print a line for each change"),
                .init(nil, "count", "N", "Stop after N lines (with --watch)"), help,
            ]),
        .init(
            name: "pins", summary: "Show a certificate chain and its pins", operands: "HOST[:PORT]|FILE",
            options: [
                .init(nil, "cacert", "FILE", "Trust only the CA certificates in FILE"),
                .init("x", "proxy", "URL", "Connect through a proxy"), help,
            ]),
        .init(
            name: "query", summary: "Convert JSON objects to query strings", operands: "",
            options: [
                .init(nil, "arrays", "brackets|indexed|repeat|comma", "Choose the format of arrays"),
                .init(nil, "nested", "brackets|dots", "Choose the format of nested objects"),
                .init(nil, "booleans", "numbers|words", "Choose the format of booleans"),
                .init(nil, "spaces", "percent|plus", "Choose the encoding of spaces"),
                .init(nil, "order", "sorted|given", "Choose the order of keys"),
                .init(nil, "set", "NAME", "Treat the array NAME as a set"),
                .init(nil, "url", "URL", "Insert the query into URL"), help,
            ]),
        .init(
            name: "run", summary: "Send the requests described in a file", operands: "FILE",
            options: [.init(nil, "json", nil, "Print one JSON object instead"), help]),
        serve,
        .init(
            name: "trust", summary: "Check a certificate chain offline", operands: "",
            options: [
                .init(nil, "host", "HOST", "Check for this host name or address"),
                .init(nil, "chain", "FILE", "Read the server's certificates, leaf first"),
                .init(nil, "ca", "FILE", "Trust only the CA certificates in FILE"),
                .init(nil, "port", "N", "Use this port (443)"), .init(nil, "time", "T", "Check at this time"),
                .init(nil, "pin", "[HOST=]PIN", "Require this key"),
                .init(nil, "pin-report-only", nil, "Report pin mismatches, but allow the chain"),
                .init(nil, "crlfile", "FILE", "Read certificate revocation lists from FILE"),
                .init(nil, "strict", nil, "Require RFC 5280 and CA/Browser Forum rules"),
                .init(nil, "max-chain", "N", "Allow at most N certificates in the chain"),
                .init("k", "insecure", nil, "Accept any chain and name"), help,
            ]),
        .init(
            name: "validate", summary: "Check that files are JSON, and match a shape or schema", operands: "[FILE...]",
            options: [
                .init(nil, "shape", "FILE", "Check the files against this shape"),
                .init(nil, "schema", "FILE", "Check the files against this JSON Schema"),
                .init(nil, "lenient-null", nil, "Accept null for any member"),
                .init(nil, "tree", nil, "Print each valid file as cJSON prints it"), help,
            ]),
        ws,
    ]
}
