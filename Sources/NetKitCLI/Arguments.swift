import NetKit

/// What a command line asks for: a value, made without touching anything.
struct Arguments: Sendable {
    /// A -H: a field to send, or the name of a default one to leave out.
    enum HeaderChange: Sendable {
        case send(Headers.Field)
        case leaveOut(String)
    }

    /// A -H: a change, or the file whose lines are such.
    enum HeaderChoice: Sendable {
        case change(HeaderChange)
        case file(String)
    }

    /// A -d, --data-raw, --data-binary, --data-urlencode or --json, before its file is read.
    struct DataPiece: Sendable {
        enum Kind: Sendable {
            /// Without its line ends, where a file is read.
            case plain
            /// As it stands, and never a file.
            case raw
            /// As it stands.
            case whole
            case encoded
            case json
        }

        var text: String
        var kind = Kind.plain
        var isJSON: Bool { kind == .json }
        /// The file that `@file` names; "-" is standard input.
        var file: String? { kind == .raw ? nil : text.behind("@") }
    }

    /// A -o or -O: where the body of one URL goes.
    enum OutputChoice: Sendable {
        case path(String)
        /// The last segment of the URL's path, in a folder; its name ends in "/", and the current one's is empty.
        case remoteName(folder: String)

        /// As --output-dir puts it.
        func placed(in folder: String) -> OutputChoice {
            switch self {
            case .path("-"): self
            case .path(let path): .path(folder + path)
            case .remoteName: .remoteName(folder: folder)
            }
        }
    }

    /// In order; the first -o or -O is the first one's, and so is the first -T.
    var urls: [String] = []
    var outputs: [OutputChoice] = []
    /// Whether -O is said of each URL that has no -o.
    var namesAll = false
    var outputFolder = ""
    /// Whether folders of output files are made.
    var makesFolders = false
    /// Whether a file gets the time of Last-Modified.
    var keepsTime = false
    var uploads: [String] = []
    var isParallel = false

    var method: String?
    var headers: [HeaderChoice] = []
    /// The headers with the lines of files, once they are read.
    var changes: [HeaderChange] = []
    var data: [DataPiece] = []
    /// The data put together, once its files are read; nil without any.
    var sentData: [UInt8]?
    var form: [FormField] = []
    /// What makes the form, as it was written.
    var formWords: [String] = []
    /// -z: a date, or the file whose time counts.
    var timeCondition: String?
    /// The field that asks so, once that is known.
    var condition: Headers.Field?
    /// The bytes that -r asks for, as Range has them.
    var range: String?
    /// Notes on values that were completed.
    var warnings: [String] = []
    var asksForHead = false
    var sendsDataInURL = false
    var followsRedirects = false
    var maxRedirects = 50
    /// Whether --proto takes http away.
    var refusesPlain = false
    var userAgent: String?
    var referer: String?
    var isCompressed = false
    var keepsDotSegments = false
    /// The file of the shape that the body has to have.
    var shapePath: String?

    var login: Login?
    var usesDigest = false
    /// What --oauth2-bearer shows.
    var token: String?
    /// Nil: neither -n nor --netrc-file was said.
    var netrc: NetrcChoice?
    var cookies: [String] = []
    var cookieFiles: [String] = []
    var cookieJar: String?
    /// Of files: those that end with a browser's session are not taken.
    var dropsSessionCookies = false
    var certificate: (path: String, password: String?)?
    var key: String?
    var authorityFile: String?
    var isInsecure = false
    var trust = TrustArguments()

    var proxy: ProxyPlace?
    var proxyLogin: Login?
    var proxyHeaders: [HeaderChoice] = []
    /// The same with the lines of files, once they are read.
    var proxyFields: [Headers.Field] = []
    var unproxied: [String] = []
    /// Whether http goes through a tunnel as well.
    var usesTunnel = false
    /// What --connect-to says, and --resolve.
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
    /// Where the same goes as a picture.
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
    /// Tries after the first one.
    var retries = 0
    var retriesAllErrors = false
    /// Between two tries; nil doubles from a second on.
    var retryDelay: Duration?
    /// After which no try begins.
    var retryLimit: Duration?
    /// The time between two starts.
    var startInterval: Duration?
    var printsCurl = false
    var archivePath: String?
    var wantsHelp = false
    var wantsVersion = false

    /// Reads a command line, the program's name left out.
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

    /// What curl has to be told beside the request: forms, and the files that it reads as nk does.
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

    /// The options that write a file at the end, and the file of each that is given.
    var filesAtTheEnd: [(option: String, path: String)] {
        [("-D", headPath), ("-c", cookieJar), ("--timing-svg", timingPath), ("--har", archivePath)]
            .compactMap { option, path in path.map { (option, $0) } }
    }

    private mutating func take(long name: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        guard let option = Option.named(name) else {
            // Behind "=" may stand a password.
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

    /// Short options may stand together (-sSf), and the last one's value may follow at once (-XPOST).
    private mutating func take(shorts word: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        // Scalar by scalar: a value that begins with an accent would be part of its option's letter.
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

    /// As curl does, a URL without a scheme is taken for http. "http:x" is left for the library to refuse.
    private static func completed(_ url: String) -> String {
        url.isEmpty || !WrittenURL(url).scheme.isEmpty ? url : "http://" + url
    }
}

/// A command line that cannot be read: one line that names the offender.
struct UsageError: Error {
    let message: String
    let exitCode: Int32

    init(_ message: String, exitCode: Int32 = ExitCode.usage) {
        self.message = message
        self.exitCode = exitCode
    }
}

/// One URL of a command line, and what goes with it.
struct Job: Sendable {
    /// Its place in the command line, from 0.
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
