import NetKit

/// `nk parts`: splits a multipart response while it arrives.
struct PartsCommand {
    static let help = """
        Usage: nk parts [options] URL

        Reads a multipart answer (multipart/mixed, multipart/x-mixed-replace, ...) part
        by part, as it arrives, and tells each part's number, type and bytes.

          -o, --into DIR               writes the parts there as part-0001.jpg, ...
          -c, --count N                ends after N parts
              --max-bytes N            refuses a larger part (67108864)
          -H, --header 'Name: value'   sent with the request
          -k, --insecure               believes every certificate

        Exit codes: 0, 2 for a wrong word, 22 for a status that is not from 200 to
        299, 105 for a type that has no parts, 18 for an answer that is cut short,
        else as nk's.

        """

    private var url: String?
    private var folder: String?
    private var count = Int.max
    private var limits = PartLimits()
    private var headers = Headers()
    private var isInsecure = false

    static func run(_ words: ArraySlice<String>) async -> Int32 {
        if words.contains("--help") || words.contains("-h") {
            return Command.show(help)
        }
        do throws(UsageError) {
            let command = try PartsCommand(words)
            return await Command.untilInterrupted { () async throws(Failure) in
                try await command.perform()
                return ExitCode.success
            }
        } catch {
            return Command.complain(Failure(ExitCode.usage, error.message))
        }
    }

    private init(_ words: ArraySlice<String>) throws(UsageError) {
        var rest = words
        while let word = rest.popFirst() {
            switch word {
            case "-o", "--into": folder = try rest.takeValue(of: word)
            case "-c", "--count": count = try rest.takeCount(of: word)
            case "--max-bytes": limits.maxPartBytes = try rest.takeCount(of: word)
            case "-H", "--header": try rest.takeField(of: word, to: &headers)
            case "-k", "--insecure": isInsecure = true
            case _ where word.hasPrefix("-"): throw UsageError("parts knows no option \(word)")
            case _ where url != nil: throw UsageError("parts takes one URL, and '\(word)' is a second one")
            default: url = word
            }
        }
        if url == nil {
            throw UsageError("parts takes a URL; nk parts --help")
        }
    }

    // MARK: Work

    private func perform() async throws(Failure) {
        var parts = try await opened().makeAsyncIterator()
        var left = count
        while left > 0, let part = try await Self.next(of: &parts) {
            try take(part)
            left -= 1
        }
    }

    private func opened() async throws(Failure) -> ResponseParts {
        var request = Request<Bytes>(url ?? "", headers: headers)
        if isInsecure {
            request.trust = TrustPolicy(acceptsAnything: true)
        }
        do throws(NetError) {
            return try await Agent().parts(request, limits: limits)
        } catch {
            throw Failure(error)
        }
    }

    /// In this command only a response can exceed a limit.
    private static func next(of parts: inout ResponseParts.AsyncIterator) async throws(Failure) -> ResponsePart? {
        do throws(NetError) {
            return try await parts.next()
        } catch {
            throw error.code == .tooLarge ? Failure(ExitCode.tooLarge, error.message) : Failure(error)
        }
    }

    private func take(_ part: ResponsePart) throws(Failure) {
        let type = part.headers["Content-Type"] ?? "-"
        var line = "\(part.index + 1) \(Verbose.printable(type)) \(part.bytes.count) bytes"
        if let folder {
            let path = folder + (folder.hasSuffix("/") ? "" : "/") + Self.fileName(part.index + 1, type)
            try write(part.bytes, to: path)
            line += " -> \(path)"
        }
        do throws(SystemError) {
            try Terminal.write(line + "\n", to: Terminal.standardOutput)
        } catch {
            throw Failure(writing: error, to: nil)
        }
    }

    /// "part-0001.jpg". The server influences only the extension, among a few known ones.
    static func fileName(_ number: Int, _ type: String) -> String {
        let endings = [
            "image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "image/webp": "webp", "text/plain": "txt",
            "text/html": "html", "application/json": "json", "application/xml": "xml", "text/xml": "xml",
        ]
        let name = type.prefix { $0 != ";" && $0 != " " }.lowercased()
        let digits = String(number)
        let padded = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        return "part-\(padded).\(endings[name] ?? "bin")"
    }

    private func write(_ bytes: Bytes, to path: String) throws(Failure) {
        do throws(SystemError) {
            let file = try OutputFile(at: path)
            try bytes.withSpan { span throws(SystemError) in try file.write(span) }
            try file.keep()
        } catch {
            throw Failure(writing: error, to: path)
        }
    }
}
