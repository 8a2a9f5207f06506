/// What nk says about itself.
enum Help {
    /// One screen: 80 columns, 24 lines.
    static let text = """
        Usage: nk [options] URL       fetches a URL; the options are curl's
               nk demo                walks through the library, on a server of its own
          -X, --request METHOD        -I, --head      HEAD, prints the head
          -H, --header 'Name: value'  -i, --include   prints the head, then the body
          -d, --data DATA|@FILE|@-    -v, --verbose   tells what happened
              --json DATA|@FILE|@-    -s, --silent    no error line, unless -S
          -A, --user-agent NAME       -f, --fail      exits 22 on status 400 and up
          -o, --output FILE           -L, --location  follows redirects
              --compressed            -k, --insecure  believes any certificate
              --http1.1, --http2          --cacert FILE  believes its authorities alone
              --resolve HOST:PORT:ADDRESS    --connect-to HOST1:PORT1:HOST2:PORT2
              --max-redirs N          50; -1 is no limit         -h, --help
              --max-filesize BYTES    2G; k, M, G may follow     -V, --version
              --connect-timeout SECS  10
          -m, --max-time SECS         300, none with -o; where it is not given, 60 s
                                      of silence end a transfer too
        An output file appears whole or not at all. HTTP/2 is spoken where TLS offers
        it. A redirect from https to http is refused. No proxy and no netrc is used.
        The body goes to standard output, the rest to standard error. Exit codes: 0 a
        response, 2 usage, 3 bad URL, 6 unknown host, 7 no connection, 18 cut short,
        22 -f, 23 cannot write, 28 out of time, 35 TLS, 47 redirects, 52 empty reply,
        56 reset, 60 certificate, 63 too large, and curl's others; nk's own from 100.

        """

    /// Versions and features, asked at run time.
    static var version: String {
        """
        nk \(Versions.nk) libcurl/\(Versions.curl) \(Versions.tls)
        Protocols: http https
        Features: \(Versions.features.joined(separator: " "))

        """
    }
}
