/// The help and version texts.
enum Help {
    /// The short help. It fits on a screen of 80 columns and 24 lines, including the next prompt.
    static let text = """
        Usage: nk [options] URL...   options as in curl; see nk help all
               nk demo               demonstrates the library on a local server
               nk run|serve|mock|path|validate|query|join|multipart|key|pins|trust|cache
                  |downloads|image|parts|completions|manual   see nk help COMMAND

        Request  -X METHOD  -H 'NAME: VALUE'  -d DATA|@FILE  --json DATA|@FILE  -G
                 --data-urlencode TEXT  -F NAME=VALUE|@FILE  -T FILE|-  -I  -A NAME
                 -L follow redirects, --max-redirs N  --compressed  --path-as-is
        Access   -u NAME[:PASSWORD]  --digest  --oauth2-bearer TOKEN  -n (~/.netrc)
                 -b 'A=1; B=2'|FILE  -c FILE  --cert FILE  --key FILE  --cacert FILE
                 --pin 'HOST=sha256/...'  -k accept any certificate
        Connect  -x PROXY  -U NAME[:PASSWORD]  --proxy-header 'NAME: VALUE'  -4  -6
                 --noproxy HOST,...|*  --resolve HOST:PORT:ADDRESS  --unix-socket PATH
                 --connect-to HOST1:PORT1:HOST2:PORT2
                 --http1.1  --http2  --http2-prior-knowledge  --http3  --http3-only
        Output   -o FILE  -O  -D FILE  -i with headers  -v verbose  -s silent  -N
                 -f fail from status 400 up  -w FORMAT  --timing  --har FILE
                 -Z parallel  -C - resume  --expect SHAPE.json  --cache SECONDS
        Limits   -m, --max-time SECONDS  --connect-timeout SECONDS  --retry N
                 --max-filesize BYTES  --limit-rate BYTES
        Exit     0 success, 2 usage, else as curl: 3 URL, 6 host, 7 connection, 18 cut
                 short, 22 -f, 28 time, 35 TLS, 47 redirects, 60 certificate, ...

        """

    /// The help for all options, each with one sentence, in 80 columns.
    static var all: String {
        let sections = Option.groups.map { group in
            "\(group.title)\n" + group.options.map { row(Subcommand.Option($0)) }.joined()
        }
        return "Usage: nk [options] URL...\n\n" + sections.joined(separator: "\n") + """

            The first -o, -O and -T apply to the first URL, the second to the second, ...
            Output files are never left incomplete. Redirects from https to http are
            refused. Proxy environment variables are ignored: use -x. Without -m, a
            transfer fails after 60 s without data. See also: man nk, docs/nk.md

            """
    }

    /// The help of `nk help`.
    static let ofHelp = """
        Usage: nk help [WORD]

        Explains a command such as serve, a group of options such as output, or one
        option such as retry. The word all explains every option.

        """

    /// Returns the help about a word: a group of options, such as "output", one option, such as "retry" or "-L", or "all".
    static func about(_ word: String?) throws(UsageError) -> String {
        guard let word else { return text }
        let name = word.drop { $0 == "-" }.lowercased()
        if name == "all" {
            return all
        }
        if let option = Option.all.first(where: { $0.long == name || $0.short.map { "-\($0)" } == word }) {
            return row(Subcommand.Option(option))
        }
        let titles = Option.groups.map { $0.title.split(separator: " ")[0].lowercased() }
        if let index = titles.firstIndex(of: name) {
            return Option.groups[index].options.map { row(Subcommand.Option($0)) }.joined()
        }
        let words = Subcommand.all.map(\.name) + titles + Option.all.map(\.long)
        let advice = Suggestion.advice(for: name, in: words)
        let groups = "; the groups of options are \(titles.joined(separator: ", "))"
        throw UsageError("no help for '\(word)'\(advice.isEmpty ? groups : advice)")
    }

    /// Throws an error if the first word is neither an option, a command nor a URL: a name without a dot, a port or a
    /// path is more often a misspelled command than a host.
    static func checkCommand(_ words: [String]) throws(UsageError) {
        let isLetter = { (byte: UInt8) in (97...122).contains(byte | 0x20) || byte == UInt8(ascii: "-") }
        guard let word = words.first, word.utf8.count > 1, word.utf8.first != UInt8(ascii: "-"),
            word.utf8.allSatisfy(isLetter), word.lowercased() != "localhost", !words.contains("-h"),
            !words.contains("--help")
        else { return }
        if ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].contains(word.uppercased()) {
            throw UsageError("unknown command '\(word)'; to choose the method: nk -X \(word.uppercased()) URL")
        }
        let near = Suggestion.nearest(to: word, in: Subcommand.all.map(\.name)).map { "did you mean '\($0)'? " } ?? ""
        throw UsageError("unknown command '\(word)'; \(near)To fetch it: nk http://\(word)")
    }

    /// Returns the text for one option. The spellings and the name of the value are in the left column, the sentence is
    /// in the right one.
    private static func row(_ option: Subcommand.Option) -> String {
        let front = "  " + option.front
        let margin = 34
        var lines = [front.count < margin - 1 ? Format.left(front, margin) : front + "\n" + Format.left("", margin)]
        var width = margin
        for word in option.summary.split(separator: " ") {
            if width > margin, width + 1 + word.count > 80 {
                lines.append(Format.left("", margin))
                width = margin
            }
            lines[lines.count - 1] += (width > margin ? " " : "") + word
            width += (width > margin ? 1 : 0) + word.count
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The versions and features, which are determined at run time.
    static var version: String {
        """
        nk \(Versions.nk) libcurl/\(Versions.curl) \(Versions.tls)
        Protocols: \(Versions.protocols.joined(separator: " "))
        Features: \(Versions.features.joined(separator: " "))

        """
    }
}
