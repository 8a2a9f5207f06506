import NetKit

/// The parsed command line, or the part of it up to --next. Parsing only reads the files of -K.
struct Arguments: Sendable {
    /// A change to the header fields: a field to send, or the name of a default field to remove.
    enum HeaderChange: Sendable {
        case send(Headers.Field)
        case remove(String)
    }

    /// The value of -H: a change, or a file with one change per line.
    enum HeaderArgument: Sendable {
        case change(HeaderChange)
        case file(String)
    }

    /// The value of -d, --data-raw, --data-binary, --data-urlencode or --json, before its file is read.
    struct DataArgument: Sendable {
        enum Kind: Sendable {
            /// Sent unchanged, except that line ends of a file are removed.
            case plain
            /// Sent unchanged. "@" does not denote a file.
            case raw
            /// Sent unchanged.
            case whole
            /// Percent-encoded (--data-urlencode).
            case encoded
            case json
        }

        var text: String
        var kind = Kind.plain
        var isJSON: Bool { kind == .json }
        /// The path of the file in `@file`, if there is one. "-" is standard input.
        var file: String? { kind == .raw ? nil : text.behind("@") }
    }

    /// The value of -o or -O: the output of one URL.
    enum OutputDestination: Sendable {
        case path(String)
        /// A file in `folder`, named like the last segment of the URL's path. `folder` ends in "/", or is empty for the
        /// current directory.
        case remoteName(folder: String)

        /// Returns the output in the directory of --output-dir.
        func placed(in folder: String) -> OutputDestination {
            switch self {
            case .path("-"): self
            case .path(let path): .path(folder + path)
            case .remoteName: .remoteName(folder: folder)
            }
        }
    }

    /// The URLs in order. The first -o or -O and the first -T apply to the first URL, the second to the second, and so
    /// on.
    var urls: [String] = []
    var outputs: [OutputDestination] = []
    /// Whether -O applies to each URL without -o.
    var namesAll = false
    var outputFolder = ""
    /// Whether missing directories of output files are created.
    var makesFolders = false
    /// Whether the modification time of output files is set from Last-Modified.
    var keepsTime = false
    var uploads: [String] = []
    var isParallel = false

    var method: String?
    var headers: [HeaderArgument] = []
    /// The changes of all headers, after their files were read.
    var changes: [HeaderChange] = []
    var data: [DataArgument] = []
    /// The combined data of all ``data`` arguments, after their files were read. `nil` if there is no data.
    var sentData: [UInt8]?
    var form: [FormField] = []
    /// The arguments of ``form`` as they were given.
    var formWords: [String] = []
    /// The value of -z: a date, or a file whose time is used.
    var timeCondition: String?
    /// The conditional field for ``timeCondition``, after its file was examined.
    var condition: Headers.Field?
    /// The conditional field for ``etagInput``, after its file was read.
    var etagCondition: Headers.Field?
    /// The value of -r, in the syntax of the Range field.
    var range: String?
    /// Warnings about incomplete values that were completed.
    var warnings: [String] = []
    var usesHeadMethod = false
    var sendsDataInURL = false
    var followsRedirects = false
    var maxRedirects = 50
    /// Whether --proto excludes http.
    var refusesPlain = false
    var userAgent: String?
    var referer: String?
    var isCompressed = false
    /// Whether a compressed transfer is requested (--tr-encoding).
    var isTransferCompressed = false
    var keepsDotSegments = false
    /// The file that describes the body.
    var expectedBody: ExpectedBody?

    var login: Login?
    var usesDigest = false
    /// Whether the server's challenge chooses the method of authentication (--anyauth).
    var usesAnyMethod = false
    /// Whether a login in the command line has priority over that of the netrc file (--netrc-optional).
    var isNetrcOptional = false
    /// The file that the ETag of the response is written to.
    var etagOutput: String?
    /// The file with the ETag of the response that the user has.
    var etagInput: String?
    /// The value of --oauth2-bearer.
    var token: String?
    /// The netrc file of -n or --netrc-file. `nil` if neither option is given.
    var netrc: NetrcSource?
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

    var proxy: ProxyAddress?
    var proxyLogin: Login?
    var proxyHeaders: [HeaderArgument] = []
    /// The proxy's fields, after their files were read.
    var proxyFields: [Headers.Field] = []
    var unproxied: [String] = []
    /// Whether http URLs also use a tunnel through the proxy.
    var usesTunnel = false
    /// The values of --connect-to.
    var connections: [AddressOverride] = []
    /// The values of --resolve.
    var resolved: [AddressOverride] = []
    var unixSocket: String?
    var addressFamily = AddressFamily.any
    var serviceClass: ServiceClass?
    var httpVersionPolicy = HTTPVersionPolicy.automatic

    var showsHead = false
    var headPath: String?
    var writeOut: String?
    var showsTiming = false
    /// The file for the picture of the timing.
    var timingPath: String?
    var isVerbose = false
    var isSilent = false
    var showsErrors = false
    var failsOnStatus = false
    var failsWithBody = false
    var hidesProgress = false
    /// Whether JSON is indented. If `nil`, it is indented on a terminal.
    var indentsJSON: Bool?
    /// Whether indented JSON has colours. If `nil`, it has colours on a terminal that supports them.
    var usesColours: Bool?

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
    /// The smallest interval between the starts of transfers (--rate).
    var startInterval: Duration?
    var printsCurl = false
    var archivePath: String?
    var wantsHelp = false
    var wantsVersion = false
    /// Whether another operation follows (--next).
    var isFollowed = false
    /// The number of files of -K that are being read.
    var configDepth = 0

    /// Parses the arguments of each operation; --next separates them. As in curl, -v, -S and -Z also hold for the
    /// operations after theirs. `words` does not contain the name of the program.
    static func operations(parsing words: [String]) throws(UsageError) -> [Arguments] {
        var rest = words[...]
        var operations = [try Arguments(parsing: &rest)]
        while let last = operations.last, last.isFollowed {
            operations.append(try Arguments(parsing: &rest, after: last))
        }
        return operations
    }

    /// Parses the arguments up to --next, and removes them from `rest`. `take` handles options of a subcommand alone.
    init(
        parsing rest: inout ArraySlice<String>, after earlier: Arguments? = nil,
        _ take: (String, inout ArraySlice<String>) throws(UsageError) -> Bool = { (_, _) throws(UsageError) in false }
    ) throws(UsageError) {
        if let earlier {
            (isVerbose, showsErrors, isParallel) = (earlier.isVerbose, earlier.showsErrors, earlier.isParallel)
        }
        var areOptionsOver = false
        while !isFollowed, let word = rest.popFirst() {
            if areOptionsOver || word == "-" || word.behind("-") == nil {
                urls.append(word)
            } else if word == "--" {
                areOptionsOver = true
            } else if try !take(word, &rest) {
                try self.take(option: word, &rest)
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

    /// The additional arguments for the curl command of --curl: those for forms, and for files that curl itself reads.
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

    /// Whether an option writes the heads of responses: -v, -i, -I or -D.
    var usesHeads: Bool { isVerbose || showsHead || usesHeadMethod || headPath != nil }

    /// The options that write a file after all transfers have ended, with the paths of the files.
    var filesAtTheEnd: [(option: String, path: String)] {
        [
            ("-D", headPath), ("-c", cookieJar), ("--timing-svg", timingPath), ("--har", archivePath),
            ("--etag-save", etagOutput),
        ]
        .compactMap { option, path in path.map { (option, $0) } }
    }

    /// Applies a word that begins with a hyphen.
    mutating func take(option word: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        let letters = word.behind("-") ?? word
        if let name = letters.behind("-") {
            try take(long: name, &rest)
        } else {
            try take(shorts: letters, &rest)
        }
    }

    private mutating func take(long name: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        guard let option = Option.named(name) else {
            // The text after "=" is not printed, because it may be a password.
            let shown = name.prefix { $0 != "=" }
            throw UsageError(
                "unknown option --\(shown)"
                    + (shown == name ? Self.advice(shown) : ": separate the value with a space, not '='"))
        }
        switch option.effect {
        case .flag(let apply):
            apply(&self)
        case .value(let apply):
            guard let value = rest.popFirst() else { throw UsageError("option --\(name) needs a value") }
            try apply(&self, value)
        }
    }

    /// Returns what an error message adds about an unknown option. The option itself is never repeated in it.
    private static func advice(_ name: Substring) -> String {
        let names = Option.all.map(\.long)
        let prefix = names.filter { $0.hasPrefix(name) }
        if prefix.count == 1 && name.count > 2 {
            return "; did you mean --\(prefix[0])?"
        }
        let advice = Suggestion.advice(for: name, in: names, prefix: "--")
        return advice.isEmpty ? "; see nk --help all" : advice
    }

    /// Parses a word with short options. Several can be combined (-sSf), and a value can directly follow the last one
    /// (-XPOST).
    private mutating func take(shorts word: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        // The word is split into Unicode scalars. Otherwise a combining mark at the beginning of a value would be part
        // of the same Character as the option's letter.
        var letters = word.unicodeScalars[...]
        while let letter = letters.popFirst() {
            guard let option = Option.all.first(where: { $0.short == Character(letter) }) else {
                throw UsageError("unknown option -\(letter); see nk --help all")
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

    /// Returns the URL with a scheme. As in curl, a URL without one uses http. A URL such as "http:x" is not changed
    /// here, because the library rejects it.
    private static func completed(_ url: String) -> String {
        url.isEmpty || !URLText(url).scheme.isEmpty ? url : "http://" + url
    }
}

/// The error for an invalid command line. The message is one line that names the invalid argument.
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
    let output: Arguments.OutputDestination?
    /// The path of the file to upload, if there is one. "-" is standard input.
    let upload: String?

    init(_ index: Int, of arguments: Arguments) {
        self.index = index
        url = arguments.urls[index]
        output = index < arguments.outputs.count ? arguments.outputs[index] : nil
        let upload = index < arguments.uploads.count ? arguments.uploads[index] : ""
        self.upload = upload.isEmpty ? nil : upload
    }
}
