/// The manual page nk(1), generated from the tables of options and subcommands.
enum ManualPage {
    static var text: String {
        let lines =
            [
                ".\\\" Made by `nk manual`; docs/nk.md says more.",
                ".TH NK 1 \"\(day)\" \"nk \(escaped(Versions.nk))\" \"NetKit\"",
                ".SH NAME", "nk \\- fetch URLs, and look at requests from a terminal", ".SH SYNOPSIS",
                ".B nk", "[\\fIoptions\\fR] \\fIURL\\fR...", ".br", ".B nk", "\\fIcommand\\fR [\\fIoptions\\fR] ...",
                ".SH DESCRIPTION",
            ] + description + [".SH OPTIONS"] + Subcommand.fetchOptions.flatMap(item) + [".SH COMMANDS"]
            + Subcommand.all.flatMap(section) + [".SH EXIT STATUS"] + exitCodes + [".SH ENVIRONMENT"] + environment
            + [
                ".SH SEE ALSO", ".BR curl (1)", ".PP", "The whole of it stands in docs/nk.md of the sources.",
            ]
        return lines.joined(separator: "\n") + "\n"
    }

    /// The date of the page's last review.
    private static let day = "2026-11-27"

    private static let description = [
        "Fetches URLs over the library that programs use. An option that has curl's name means what it means to curl.",
        "Short options may stand together, a value may follow its letter at once, and",
        ".B \\-\\-", "ends the options. A URL without a scheme is taken for http.",
        "Bodies go to standard output, everything else to standard error.",
    ]

    private static let exitCodes = [
        "0 is a response, 2 a wrong command line, and the others are curl's: 3 a bad URL, 6 an unknown host,",
        "7 no connection, 18 a body that was cut short, 22 a status with \\fB\\-f\\fR, 23 cannot write, 26 cannot read,",
        "28 out of time, 35 TLS, 47 redirects, 52 an empty reply, 56 a reset, 60 a certificate, 63 too large.",
        "From 100 on they are nk's own: 103 no JSON, 104 JSON of another shape, 105 another type, 106 another digest,",
        "107 nothing kept, 108 no image. Of several URLs it is that of the first that failed.",
        "\\fBnk serve\\fR and \\fBnk mock\\fR end with 0 when they are interrupted.",
    ]

    private static let environment = [
        ".TP", ".B NO_COLOR", "When it is set and not empty, nothing is coloured.", ".TP", ".B TERM, COLORTERM",
        "What the terminal can show; \\fBdumb\\fR is no colours.", ".TP", ".B HOME, XDG_CACHE_HOME",
        "Where \\fB\\-\\-cache\\fR keeps answers, and \\fB\\-\\-netrc\\fR looks.", ".PP",
        "Proxies in the environment do not count.",
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
