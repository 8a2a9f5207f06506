import NetKit

/// `nk parts`: splits a multipart response while it arrives.
struct PartsCommand {
    static let help = """
        Usage: nk parts [options] URL

        Reads a multipart response (multipart/mixed, multipart/x-mixed-replace, ...)
        and prints the number, type and size of each part when it arrives.

          -o, --into DIR               Write the parts to DIR/part-0001.jpg, ...
          -c, --count N                Stop after N parts
              --max-bytes N            Reject a larger part (67108864)
          -H, --header 'Name: value'   Send this header
          -k, --insecure               Accept any certificate, also a forged one

        Exit code: 0 success, 2 usage, 18 response cut short, 22 HTTP status not 2xx,
        105 Content-Type is not multipart, or as for nk URL.

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
            case _ where word.hasPrefix("-"): throw UsageError("parts: unknown option \(word); see nk parts --help")
            case _ where url != nil: throw UsageError("parts accepts one URL; unexpected '\(word)'")
            default: url = word
            }
        }
        if url == nil {
            throw UsageError("parts needs a URL; see nk parts --help")
        }
    }

    // MARK: Work

    private func perform() async throws(Failure) {
        var parts = try await openParts().makeAsyncIterator()
        var remainingCount = count
        while remainingCount > 0, let part = try await Self.next(of: &parts) {
            try printPart(part)
            remainingCount -= 1
        }
    }

    private func openParts() async throws(Failure) -> some AsyncSequence<ResponsePart, NetError> {
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

    /// Returns the next part. In this command, only the response can be too large, so that error has the exit code of a
    /// response.
    private static func next(
        of parts: inout some AsyncIteratorProtocol<ResponsePart, NetError>
    ) async throws(Failure) -> ResponsePart? {
        do throws(NetError) {
            return try await parts.next(isolation: nil)
        } catch {
            throw error.code == .tooLarge ? Failure(ExitCode.tooLarge, error.message) : Failure(error)
        }
    }

    private func printPart(_ part: ResponsePart) throws(Failure) {
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

    /// Returns the name of a part's file, such as "part-0001.jpg". The server can influence only the extension, which
    /// is one of a few known ones.
    static func fileName(_ number: Int, _ type: String) -> String {
        let extensions = [
            "image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "image/webp": "webp", "text/plain": "txt",
            "text/html": "html", "application/json": "json", "application/xml": "xml", "text/xml": "xml",
        ]
        let name = type.prefix { $0 != ";" && $0 != " " }.lowercased()
        let digits = String(number)
        let padded = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        return "part-\(padded).\(extensions[name] ?? "bin")"
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
