import NetKit

/// The parsed command line: a value, created without side effects.
struct Arguments: Sendable {
    /// The value of -H: a field to send, or the name of a default field to omit.
    enum HeaderChange: Sendable {
        case send(Headers.Field)
        case leaveOut(String)
    }

    /// The value of -H: a change, or a file with one change per line.
    enum HeaderChoice: Sendable {
        case change(HeaderChange)
        case file(String)
    }

    /// The value of -d, --data-raw, --data-binary, --data-urlencode or --json, before its file is read.
    struct DataPiece: Sendable {
        enum Kind: Sendable {
            /// Line ends of a file are removed.
            case plain
            /// Sent unchanged; "@" has no meaning.
            case raw
            /// Sent unchanged.
            case whole
            case encoded
            case json
        }

        var text: String
        var kind = Kind.plain
        var isJSON: Bool { kind == .json }
        /// The file of `@file`; "-" is standard input.
        var file: String? { kind == .raw ? nil : text.behind("@") }
    }

    /// The value of -o or -O: the output of one URL.
    enum OutputChoice: Sendable {
        case path(String)
        /// The last segment of the URL's path, in a directory. `folder` ends in "/"; it is empty for the current
        /// directory.
        case remoteName(folder: String)

        /// Returns the output in the directory of --output-dir.
        func placed(in folder: String) -> OutputChoice {
            switch self {
            case .path("-"): self
            case .path(let path): .path(folder + path)
            case .remoteName: .remoteName(folder: folder)
            }
        }
    }

    /// The URLs in order. The first -o or -O applies to the first one, and so does the first -T.
    var urls: [String] = []
    var outputs: [OutputChoice] = []
    /// Whether -O applies to each URL without -o.
    var namesAll = false
    var outputFolder = ""
    /// Whether missing directories of output files are created.
    var makesFolders = false
    /// Whether output files get the time of Last-Modified.
    var keepsTime = false
    var uploads: [String] = []
    var isParallel = false

    var method: String?
    var headers: [HeaderChoice] = []
    /// The changes of all headers, after their files were read.
    var changes: [HeaderChange] = []
    var data: [DataPiece] = []
    /// The combined data, after its files were read; `nil` without data.
    var sentData: [UInt8]?
    var form: [FormField] = []
    /// The arguments of the form, as written.
    var formWords: [String] = []
    /// The value of -z: a date, or a file whose time is used.
    var timeCondition: String?
    /// The conditional field for -z, when it is known.
    var condition: Headers.Field?
    /// The value of -r, in the syntax of Range.
    var range: String?
    /// Warnings about values that were completed.
    var warnings: [String] = []
    var asksForHead = false
    var sendsDataInURL = false
    var followsRedirects = false
    var maxRedirects = 50
    /// Whether --proto excludes http.
    var refusesPlain = false
    var userAgent: String?
    var referer: String?
    var isCompressed = false
    var keepsDotSegments = false
    /// The file with the expected shape of the body.
    var shapePath: String?

    var login: Login?
    var usesDigest = false
    /// The value of --oauth2-bearer.
    var token: String?
    /// `nil` without -n and --netrc-file.
    var netrc: NetrcChoice?
    var cookies: [String] = []
    var cookieFiles: [String] = []
    var cookieJar: String?
    /// Whether session cookies in files are ignored.
    var dropsSessionCookies = false
    var certificate: (path: String, password: String?)?
    var key: String?
    var authorityFile: String?
    var isInsecure = false
    var trust = TrustArguments()

    var proxy: ProxyPlace?
    var proxyLogin: Login?
    var proxyHeaders: [HeaderChoice] = []
    /// The proxy's fields, after their files were read.
    var proxyFields: [Headers.Field] = []
    var unproxied: [String] = []
    /// Whether http also uses a tunnel.
    var usesTunnel = false
    /// The values of --connect-to and --resolve.
    var connections: [AddressOverride] = []
    var resolved: [AddressOverride] = []
    var unixSocket: String?
    var addressFamily = AddressFamily.any
    var serviceClass: ServiceClass?
    var protocolChoice = ProtocolChoice.automatic

    var showsHead = false
    var headPath: String?
    var writeOut: String?
    var showsTiming = false
    /// The file for the timing as a picture.
    var timingPath: String?
    var isVerbose = false
    var isSilent = false
    var showsErrors = false
    var failsOnStatus = false
    var failsWithBody = false
    var hidesProgress = false

    var downloads = DownloadArguments()
    var cache = CacheArguments()

    var maxBodyBytes: Int?
    var bytesPerSecond: Int?
    var connectLimit: Duration?
    var totalLimit: Duration?
    /// The number of retries.
    var retries = 0
    var retriesAllErrors = false
    /// The delay between retries. If `nil`, it starts at one second and doubles.
    var retryDelay: Duration?
    /// The time after which no retry begins.
    var retryLimit: Duration?
    /// The interval between the starts of transfers.
    var startInterval: Duration?
    var printsCurl = false
    var archivePath: String?
    var wantsHelp = false
    var wantsVersion = false

    /// Parses the arguments, without the program's name.
    init(parsing words: [String]) throws(UsageError) {
        var rest = words[...]
        var areOptionsOver = false
        while let word = rest.popFirst() {
            guard !areOptionsOver, word != "-", let behind = word.behind("-") else {
                urls.append(word)
                continue
            }
            if word == "--" {
                areOptionsOver = true
            } else if let name = behind.behind("-") {
                try take(long: name, &rest)
            } else {
                try take(shorts: behind, &rest)
            }
        }
        if wantsHelp || wantsVersion {
            return
        }
        try check()
        urls = urls.map(Self.completed)
        outputs += Array(repeating: .remoteName(folder: ""), count: namesAll ? urls.count - outputs.count : 0)
        if !outputFolder.isEmpty {
            let folder = outputFolder + (outputFolder.utf8.last == UInt8(ascii: "/") ? "" : "/")
            outputs = outputs.map { $0.placed(in: folder) }
        }
    }

    /// The arguments of curl that are not part of the request: forms, and the files that it reads as nk does.
    var wordsForCurl: [String] {
        formWords + netrcWords + cookieFiles.filter { !$0.isEmpty }.flatMap { ["-b", $0] }
            + (dropsSessionCookies ? ["-j"] : [])
    }

    private var netrcWords: [String] {
        switch netrc {
        case .home: ["-n"]
        case .file(let path): ["--netrc-file", path]
        case .off, nil: []
        }
    }

    /// The options that write a file at the end, with their files.
    var filesAtTheEnd: [(option: String, path: String)] {
        [("-D", headPath), ("-c", cookieJar), ("--timing-svg", timingPath), ("--har", archivePath)]
            .compactMap { option, path in path.map { (option, $0) } }
    }

    private mutating func take(long name: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        guard let option = Option.named(name) else {
            // The text after "=" may be a password.
            let shown = name.prefix { $0 != "=" }
            throw UsageError("unknown option --\(shown)" + (shown == name ? "" : ": a value is a word of its own"))
        }
        switch option.effect {
        case .flag(let apply):
            apply(&self)
        case .value(let apply):
            guard let value = rest.popFirst() else { throw UsageError("option --\(name) needs a value") }
            try apply(&self, value)
        }
    }

    /// Short options can be combined (-sSf), and the value can follow the last one directly (-XPOST).
    private mutating func take(shorts word: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        // By Unicode scalars: a value that begins with a combining mark would otherwise be part of the option's letter.
        var letters = word.unicodeScalars[...]
        while let letter = letters.popFirst() {
            guard let option = Option.all.first(where: { $0.short == Character(letter) }) else {
                throw UsageError("unknown option -\(letter)")
            }
            switch option.effect {
            case .flag(let apply):
                apply(&self)
            case .value(let apply):
                guard let value = letters.isEmpty ? rest.popFirst() : String(letters) else {
                    throw UsageError("option -\(letter) needs a value")
                }
                try apply(&self, value)
                return
            }
        }
    }

    /// A URL without a scheme is treated as http, as in curl. The library rejects "http:x".
    private static func completed(_ url: String) -> String {
        url.isEmpty || !WrittenURL(url).scheme.isEmpty ? url : "http://" + url
    }
}

/// An invalid command line: one line that names the invalid argument.
struct UsageError: Error {
    let message: String
    let exitCode: Int32

    init(_ message: String, exitCode: Int32 = ExitCode.usage) {
        self.message = message
        self.exitCode = exitCode
    }
}

/// One URL of a command line, with its options.
struct Job: Sendable {
    /// The index in the command line, from 0.
    let index: Int
    let url: String
    let output: Arguments.OutputChoice?
    /// The file to send; "-" is standard input.
    let upload: String?

    init(_ index: Int, of arguments: Arguments) {
        self.index = index
        url = arguments.urls[index]
        output = index < arguments.outputs.count ? arguments.outputs[index] : nil
        let upload = index < arguments.uploads.count ? arguments.uploads[index] : ""
        self.upload = upload.isEmpty ? nil : upload
    }
}
