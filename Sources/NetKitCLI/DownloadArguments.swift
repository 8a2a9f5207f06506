import NetKit

/// The options of downloads that are resumed, checked or split into segments.
struct DownloadArguments: Sendable {
    /// Whether an earlier download is resumed (-C - or --resume).
    var resumes = false
    var segments: Int?
    var sha256: Checksum?
    var md5: Checksum?
    /// Whether the name of the file comes from the response head (-J).
    var takesNameFromHead = false
    /// Whether an existing file is replaced: true for --clobber, false for --no-clobber, `nil` if neither is given.
    var replaces: Bool?
    var partialFolder: String?
    var trustsServer = false

    /// Whether any of these options was given.
    var isRequested: Bool {
        resumes || segments != nil || sha256 != nil || md5 != nil || takesNameFromHead || replaces == false
            || partialFolder != nil || trustsServer
    }

    /// Parses the value of -C. Only "-" is accepted: unlike curl, nk does not resume at an offset of the user, but at
    /// the last checkpoint.
    static func offset(_ text: String) throws(UsageError) -> Bool {
        if text != "-" {
            throw UsageError("-C accepts only '-'; the offset comes from the partial file")
        }
        return true
    }

    static func count(_ text: String) throws(UsageError) -> Int {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let count = Int(text), (1...16).contains(count) else {
            throw UsageError("--segments '\(text)' is not a number from 1 to 16")
        }
        return count
    }

    /// Checks that a digest has this number of bytes, in hex digits of either case.
    static func digest(_ text: String, bytes: Int, of option: String) throws(UsageError) -> String {
        guard text.utf8.count == 2 * bytes, text.count == 2 * bytes, text.allSatisfy(\.isHexDigit) else {
            throw UsageError("\(option) '\(text)' is not \(2 * bytes) hex digits")
        }
        return text
    }
}

extension Option {
    /// The options of downloads.
    static let downloads: [Option] = [
        value("C", "continue-at") { (arguments, text) throws(UsageError) in
            arguments.downloads.resumes = try DownloadArguments.offset(text)
        },
        toggle(nil, "resume") { $0.downloads.resumes = $1 },
        value(nil, "segments") { (arguments, text) throws(UsageError) in
            arguments.downloads.segments = try DownloadArguments.count(text)
        },
        value(nil, "sha256") { (arguments, text) throws(UsageError) in
            arguments.downloads.sha256 = .sha256(try DownloadArguments.digest(text, bytes: 32, of: "--sha256"))
        },
        value(nil, "md5") { (arguments, text) throws(UsageError) in
            arguments.downloads.md5 = .md5(try DownloadArguments.digest(text, bytes: 16, of: "--md5"))
        },
        toggle("J", "remote-header-name") { $0.downloads.takesNameFromHead = $1 },
        flag(nil, "clobber") { $0.downloads.replaces = true },
        flag(nil, "no-clobber") { $0.downloads.replaces = false },
        value(nil, "partial-dir") { $0.downloads.partialFolder = $1 },
        toggle(nil, "trust-server") { $0.downloads.trustsServer = $1 },
    ]
}

/// The destination and the options of a download.
struct DownloadJob: Sendable {
    let path: String
    let options: DownloadOptions
    private let isInCurrentFolder: Bool

    /// Returns `nil` if the body does not need a download, because it is written to standard output or no option of
    /// downloads was given.
    init?(_ job: Job, of arguments: Arguments) throws(Failure) {
        let downloads = arguments.downloads
        var options = DownloadOptions()
        options.resume = downloads.resumes
        options.segments = downloads.segments ?? 1
        options.checksums = [downloads.sha256, downloads.md5].compactMap { $0 }
        options.partialFolder = downloads.partialFolder
        options.trustsServer = downloads.trustsServer
        switch job.output {
        case nil, .path("-"):
            if downloads.isRequested {
                throw Failure(ExitCode.usage, "a download needs an output file: use -o FILE, -o DIR/ or -O")
            }
            return nil
        case .path(let path):
            if !downloads.isRequested && !path.hasSuffix("/") {
                return nil
            }
            self.path = path
            options.overwrite = downloads.replaces
        case .remoteName(let folder):
            if !downloads.isRequested {
                return nil
            }
            // Without -J, the file has the same name as with -O, and an existing one is replaced as with -O.
            path =
                downloads.takesNameFromHead
                ? (folder.isEmpty ? "./" : folder) : folder + (try Output.remoteName(of: job.url))
            options.overwrite = downloads.replaces
        }
        self.options = options
        isInCurrentFolder = path == "./"
        if arguments.showsHead || arguments.usesHeadMethod || job.upload != nil || !arguments.form.isEmpty
            || (!arguments.data.isEmpty && !arguments.sendsDataInURL) || arguments.expectedBody != nil
            || arguments.timeCondition != nil
        {
            throw Failure(
                ExitCode.usage, "a download cannot be combined with -i, -I, -d, -F, -T, -z, --expect or --expect-schema"
            )
        }
    }

    /// Returns the file's name for messages. With -J, "./" for the current directory is removed.
    func named(_ file: String) -> String {
        isInCurrentFolder && file.hasPrefix("./") ? String(file.dropFirst(2)) : file
    }
}
