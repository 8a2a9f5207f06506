/// What nk says about itself.
enum Help {
    /// 80 columns, and at most 60 lines.
    static let text = """
        Usage: nk [options] URL...    fetches URLs; the options are curl's
               nk demo                walks through the library, on a server of its own
               nk run|validate|query|join|multipart|key|pins|trust   each of these has
                  cache|downloads|path|image|parts|serve|mock|manual   a --help

        The request
          -X, --request METHOD        -T, --upload-file FILE|-  PUT; to a folder's URL
          -H, --header 'Name: value'                            with the file's name
          -d, --data DATA|@FILE|@-    -I, --head                HEAD, prints the head
              --json DATA|@FILE|@-    -L, --location            follows redirects
              --data-urlencode [NAME=]TEXT|[NAME]@FILE      -G, --get  data in the URL
          -F, --form NAME=VALUE|@FILE|<FILE             --form-string NAME=VALUE
          -A, --user-agent NAME           --max-redirs N        50; -1 is no limit
          -e, --referer URL               --compressed          asks for gzip and so on
              --path-as-is                --proto =https        refuses http

        Who asks
          -u, --user NAME[:PASSWORD]  -b, --cookie 'a=1; b=2'|FILE
              --digest                -c, --cookie-jar FILE     written at the end
              --oauth2-bearer TOKEN   -j, --junk-session-cookies
          -n, --netrc  ~/.netrc           --cert FILE[:PASSWORD], --key FILE
          -k, --insecure                  --cacert FILE         believes these alone
              --pin 'HOST=sha256/...'     --pinnedpubkey, --tls-max, --crlfile, ...

        The way
          -x, --proxy [SCHEME://][NAME:PASSWORD@]HOST[:PORT]    http, https, socks4(a),
          -U, --proxy-user NAME[:PASSWORD]                      socks5(h)
              --proxy-header 'Name: value'    --noproxy HOST,HOST...|*
              --unix-socket PATH              --resolve HOST:PORT:ADDRESS
              --http1.1, --http2, --http3     --connect-to HOST1:PORT1:HOST2:PORT2
              --http2-prior-knowledge     -p, --proxytunnel  http too   -4, --ipv4, -6

        The output
          -o, --output FILE|-         -v, --verbose             tells what happened
          -O, --remote-name           -i, --include             the head, then the body
          -J  the server's name       -C -, --resume            where a download ended
              --output-dir DIR            --create-dirs, --remote-name-all
              --segments N, --sha256 HEX, --md5 HEX             of a download
              --cache SECS, --cache-dir DIR, --cache-mode http|..., --offline
          -Z, --parallel  at once     -D, --dump-header FILE|-
          -N, --no-buffer             -w, --write-out FORMAT|@FILE, with %{variables}
          -f, --fail  22 from 400 up      --fail-with-body      the same, and the body
          -s, --silent                -S, --show-error          even with -s
              --har FILE|-, --timing      --curl    prints the lines for curl instead
              --expect SHAPE.json     the body has to be JSON of this shape

        Limits
          -m, --max-time SECS         none; without it 60 s of silence end a transfer
              --connect-timeout SECS  10  --max-filesize BYTES    k, M, G may follow
              --limit-rate BYTES      a second, each way       -h, --help  -V, --version
              --retry N, --retry-delay SECS, --retry-all-errors;  --rate N/s|m|h|d

        The first -o, -O and -T belong to the first URL, the second ones to the second.
        An output file appears whole or not at all. HTTP/2 is spoken if TLS offers it.
        A redirect from https to http is refused. No proxy is used but that of -x.
        Exit codes: 0 a response, 2 usage, 3 bad URL, 6 unknown host, 7 no connection,
        18 cut short, 22 -f, 23 cannot write, 26 cannot read, 28 out of time, 35 TLS,
        47 redirects, 52 empty reply, 56 reset, 58 --cert, 60 certificate, 63 too large,
        and curl's others; of several the first that failed. More: man nk, docs/nk.md

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
