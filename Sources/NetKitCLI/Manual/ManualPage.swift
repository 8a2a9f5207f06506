/// The manual page nk(1), generated from the tables of options and subcommands.
enum ManualPage {
    static var text: String {
        let lines =
            [
                ".\\\" Made by `nk manual`; see also docs/nk.md.",
                ".TH NK 1 \"\(day)\" \"nk \(escaped(Versions.nk))\" \"NetKit\"",
                ".SH NAME", "nk \\- transfer URLs and inspect HTTP requests", ".SH SYNOPSIS",
                ".B nk", "[\\fIoptions\\fR] \\fIURL\\fR...", ".br", ".B nk", "\\fIcommand\\fR [\\fIoptions\\fR] ...",
                ".SH DESCRIPTION",
            ] + description + [".SH OPTIONS"] + Subcommand.fetchOptions.flatMap(item) + [".SH COMMANDS"]
            + Subcommand.all.flatMap(section) + [".SH EXAMPLES"] + examples.map(example).joined(separator: [".PP"]) + [
                ".SH EXIT STATUS"
            ]
            + exitCodes + [".SH ENVIRONMENT"] + environment
            + [
                ".SH SEE ALSO", ".BR curl (1)", ".PP", "The full documentation is docs/nk.md in the source tree.",
            ]
        return lines.joined(separator: "\n") + "\n"
    }

    /// The date of the page's last review.
    private static let day = "2026-11-27"

    private static let description = [
        "Fetches URLs with NetKit. Options with the same name as in curl have the same meaning.",
        "Short options can be combined (\\-sS), and a value can follow its letter directly (\\-ofile).",
        ".B \\-\\-", "ends the options. A URL without a scheme uses http.",
        "Response bodies are written to standard output, everything else to standard error.",
    ]

    private static let examples: [(purpose: String, line: String)] = [
        ("Print the response with its headers, and follow redirects:", "nk -L -i https://example.com/"),
        ("Send JSON:", "nk --json '{\"name\": \"Oslo\"}' https://example.com/cities"),
        ("Upload a file as a form:", "nk -F title=summer -F photo=@a.jpg https://example.com/photos"),
        ("Resume a download in four ranges:", "nk -C - --segments 4 -O https://example.com/large.iso"),
        ("Show where the time went:", "nk --timing -o /dev/null https://example.com/"),
        ("Fetch only what has changed:", "nk --etag-compare tag --etag-save tag -o page https://example.com/"),
        ("Print the pins of a server:", "nk pins example.com"),
        ("Serve the current directory on a free port:", "nk serve ."),
    ]

    private static func example(_ purpose: String, _ line: String) -> [String] {
        [escaped(purpose), ".PP", ".RS", ".nf", escaped(line), ".fi", ".RE"]
    }

    private static let exitCodes = [
        "0 is success and 2 a usage error. Others are as in curl: 3 invalid URL, 6 cannot resolve the host,",
        "7 cannot connect, 18 incomplete body, 22 HTTP error with \\fB\\-f\\fR, 23 cannot write, 26 cannot read,",
        "28 timeout, 35 TLS error, 47 too many redirects, 52 empty reply, 56 connection reset, 60 certificate, 63 too large.",
        "From 100 up they are specific to nk: 103 not JSON, 104 wrong JSON shape, 105 wrong type, 106 wrong digest,",
        "107 not in the cache, 108 not an image, 109 WebSocket refused, 110 WebSocket protocol violated, 111 WebSocket",
        "closed with an error. With several URLs, the first one that failed determines the code.",
        "\\fBnk serve\\fR and \\fBnk mock\\fR exit with 0 when they are interrupted.",
    ]

    private static let environment = [
        ".TP", ".B NO_COLOR", "If set and not empty, output has no colours.", ".TP", ".B TERM, COLORTERM",
        "The capabilities of the terminal; \\fBdumb\\fR disables colours.", ".TP", ".B HOME, XDG_CACHE_HOME",
        "The location of the \\fB\\-\\-cache\\fR directory and of the \\fB\\-\\-netrc\\fR file.",
        ".TP", ".B REDISCLI_AUTH",
        "The password of the Redis server of \\fB\\-\\-cache\\fR and \\fBnk cache\\fR, if its URL has none.",
        ".PP",
        "Proxy environment variables are ignored.",
    ]

    private static func item(_ option: Subcommand.Option) -> [String] {
        let names = option.spellings.map { "\\fB\(escaped($0))\\fR" }.joined(separator: ", ")
        return [".TP", names + (option.value.map { " \\fI\(escaped($0))\\fR" } ?? ""), sentence(option.summary)]
    }

    private static func section(_ command: Subcommand) -> [String] {
        let words = ["nk", command.name].joined(separator: " ")
        let options = command.options.isEmpty ? "" : " [\\fIoptions\\fR]"
        let operands = command.operands.isEmpty ? "" : " \\fI\(escaped(command.operands))\\fR"
        var lines = [".SS \"\(escaped(words))\"", "\\fB\(escaped(words))\\fR\(options)\(operands)", ".PP"]
        lines.append(sentence(command.summary))
        if !command.actions.isEmpty {
            lines.append("The action is one of \(escaped(command.actions.joined(separator: ", "))).")
        }
        return lines + command.options.flatMap(item)
    }

    /// Returns a line of text with a full stop, escaped for troff.
    private static func sentence(_ text: String) -> String {
        let text = escaped(text)
        let first = text.prefix(1).uppercased() + text.dropFirst()
        return first.hasPrefix(".") || first.hasPrefix("'") ? "\\&\(first)." : "\(first)."
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("'", with: "\\(aq")
            .replacing("~", with: "\\(ti").replacing("^", with: "\\(ha").replacing("`", with: "\\(ga")
            .replacing("\"", with: "\\(dq")
    }
}
