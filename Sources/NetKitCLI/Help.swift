/// The help and version texts.
enum Help {
    /// One screen of 80 columns and at most 24 lines, including the next prompt.
    static let text = """
        Usage: nk [options] URL...   the options are curl's; nk --help all explains each
               nk demo               walks through the library, on a server of its own
               nk run|serve|mock|path|validate|query|join|multipart|key|pins|trust|cache
                  |downloads|image|parts|completions|manual   each of these has a --help

        Request  -X METHOD  -H 'NAME: VALUE'  -d DATA|@FILE  --json DATA|@FILE  -G
                 --data-urlencode TEXT  -F NAME=VALUE|@FILE  -T FILE|-  -I  -A NAME
                 -L follows redirects, --max-redirs N  --compressed  --path-as-is
        Access   -u NAME[:PASSWORD]  --digest  --oauth2-bearer TOKEN  -n (~/.netrc)
                 -b 'A=1; B=2'|FILE  -c FILE  --cert FILE  --key FILE  --cacert FILE
                 --pin 'HOST=sha256/...'  -k believes every certificate
        Way      -x PROXY  -U NAME[:PASSWORD]  --proxy-header 'NAME: VALUE'  -4  -6
                 --noproxy HOST,...|*  --resolve HOST:PORT:ADDRESS  --unix-socket PATH
                 --connect-to HOST1:PORT1:HOST2:PORT2
                 --http1.1  --http2  --http2-prior-knowledge  --http3
        Output   -o FILE  -O  -D FILE  -i with the head  -v verbose  -s silent  -N
                 -f exit code 22 from status 400 up  -w FORMAT  --timing  --har FILE
                 -Z all at once  -C - resumes  --expect SHAPE.json  --cache SECONDS
        Limits   -m, --max-time SECONDS  --connect-timeout SECONDS  --retry N
                 --max-filesize BYTES  --limit-rate BYTES
        Exit     0 a response, 2 usage, else curl's: 3 URL, 6 host, 7 connection, 18 cut
                 short, 22 -f, 28 time, 35 TLS, 47 redirects, 60 certificate, ...

        """

    /// All options with a sentence each, in 80 columns.
    static var all: String {
        let sections = Option.groups.map { group in
            "\(group.title)\n" + group.options.map { row(Subcommand.Option($0)) }.joined()
        }
        return "Usage: nk [options] URL...\n\n" + sections.joined(separator: "\n") + """

            The first -o, -O and -T belong to the first URL, the second ones to the second.
            An output file appears whole or not at all. A redirect from https to http is
            refused. No proxy is used but that of -x. Without -m, 60 s of silence end a
            transfer. Exit codes and more: man nk, docs/nk.md

            """
    }

    /// Returns the spellings and the value's name, then the sentence in a separate column.
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

    /// Versions and features, read at run time.
    static var version: String {
        """
        nk \(Versions.nk) libcurl/\(Versions.curl) \(Versions.tls)
        Protocols: \(Versions.protocols.joined(separator: " "))
        Features: \(Versions.features.joined(separator: " "))

        """
    }
}
