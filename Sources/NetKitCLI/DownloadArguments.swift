import NetKit

/// The options of downloads that are resumed, checked or split into segments.
struct DownloadArguments: Sendable {
    /// -C -: an earlier download is resumed.
    var resumes = false
    var segments: Int?
    var sha256: [UInt8]?
    var md5: [UInt8]?
    /// -J: the name comes from the response head.
    var takesNameFromHead = false
    /// --clobber and --no-clobber; `nil` without both.
    var replaces: Bool?
    var partialFolder: String?
    var trustsServer = false

    /// Whether any of these options was given.
    var isAsked: Bool {
        resumes || segments != nil || sha256 != nil || md5 != nil || takesNameFromHead || replaces == false
            || partialFolder != nil || trustsServer
    }

    /// curl resumes at a byte given by the user; nk resumes at the last checkpoint.
    static func offset(_ text: String) throws(UsageError) -> Bool {
        if text != "-" {
            throw UsageError("-C takes '-' alone: where to go on is known from the partial file")
        }
        return true
    }

    static func count(_ text: String) throws(UsageError) -> Int {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let count = Int(text), (1...16).contains(count) else {
            throw UsageError("--segments '\(text)' is not a number from 1 to 16")
        }
        return count
    }

    /// Parses hex digits of either case.
    static func digest(_ text: String, bytes: Int, of option: String) throws(UsageError) -> [UInt8] {
        let digits = text.compactMap(\.hexDigitValue)
        guard text.utf8.count == 2 * bytes, digits.count == 2 * bytes else {
            throw UsageError("\(option) '\(text)' is not \(2 * bytes) hex digits")
        }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
    }
}

extension Option {
    /// Downloads.
    static let downloads: [Option] = [
        value("C", "continue-at") { (arguments, text) throws(UsageError) in
            arguments.downloads.resumes = try DownloadArguments.offset(text)
        },
        flag(nil, "resume", \.downloads.resumes),
        value(nil, "segments") { (arguments, text) throws(UsageError) in
            arguments.downloads.segments = try DownloadArguments.count(text)
        },
        value(nil, "sha256") { (arguments, text) throws(UsageError) in
            arguments.downloads.sha256 = try DownloadArguments.digest(text, bytes: 32, of: "--sha256")
        },
        value(nil, "md5") { (arguments, text) throws(UsageError) in
            arguments.downloads.md5 = try DownloadArguments.digest(text, bytes: 16, of: "--md5")
        },
        flag("J", "remote-header-name", \.downloads.takesNameFromHead),
        flag(nil, "clobber") { $0.downloads.replaces = true },
        flag(nil, "no-clobber") { $0.downloads.replaces = false },
        value(nil, "partial-dir") { $0.downloads.partialFolder = $1 },
        flag(nil, "trust-server", \.downloads.trustsServer),
    ]
}

/// The destination and the options of a download.
struct DownloadJob: Sendable {
    let path: String
    let options: DownloadOptions
    private let isInCurrentFolder: Bool

    /// Returns `nil` if the body is not downloaded: it is written to standard output, or no option of downloads was
    /// given.
    init?(_ job: Job, of arguments: Arguments) throws(Failure) {
        let asked = arguments.downloads
        var options = DownloadOptions()
        options.resumes = asked.resumes
        options.segments = asked.segments ?? 1
        options.sha256 = asked.sha256
        options.md5 = asked.md5
        options.partialFolder = asked.partialFolder
        options.trustsServer = asked.trustsServer
        switch job.output {
        case nil, .path("-"):
            if asked.isAsked {
                throw Failure(ExitCode.usage, "a download needs a file: -o FILE, -o DIR/ or -O")
            }
            return nil
        case .path(let path):
            if !asked.isAsked && !path.hasSuffix("/") {
                return nil
            }
            self.path = path
            options.existing = asked.replaces.map { $0 ? .replaced : .kept } ?? .automatic
        case .remoteName(let folder):
            if !asked.isAsked {
                return nil
            }
            // Without -J the name is the one of -O, and the file is replaced as with -O.
            path =
                asked.takesNameFromHead
                ? (folder.isEmpty ? "./" : folder) : folder + (try Output.remoteName(of: job.url))
            options.existing = asked.replaces.map { $0 ? .replaced : .kept } ?? .automatic
        }
        self.options = options
        isInCurrentFolder = path == "./"
        if arguments.showsHead || arguments.asksForHead || job.upload != nil || !arguments.form.isEmpty
            || (!arguments.data.isEmpty && !arguments.sendsDataInURL) || arguments.shapePath != nil
            || arguments.timeCondition != nil
        {
            throw Failure(
                ExitCode.usage, "a download is a GET: it goes with none of -i, -I, -d, -F, -T, -z and --expect")
        }
    }

    /// Returns the file's name for messages: with -J, without the current directory.
    func named(_ file: String) -> String {
        isInCurrentFolder && file.hasPrefix("./") ? String(file.dropFirst(2)) : file
    }
}
