import NetKit

/// The destination of one body: standard output, or a file that is written atomically.
final class Output {
    private enum Place {
        case standardOutput
        // A terminal, until binary data arrives that the user did not request there.
        case terminal
        case file(path: String)
    }

    private let place: Place
    private let turn: Turn
    private let makesFolders: Bool
    private var file: OutputFile?
    private var hasTurn = false

    /// - Parameters:
    ///   - makesFolders: whether missing directories of the path are created.
    ///   - turn: admits one writer of standard output at a time.
    init(
        _ choice: Arguments.OutputChoice?, of url: String, makesFolders: Bool, turn: Turn
    ) throws(Failure) {
        self.turn = turn
        self.makesFolders = makesFolders
        switch choice {
        case nil: place = Window.isTerminal(Terminal.standardOutput) ? .terminal : .standardOutput
        case .path("-"): place = .standardOutput
        case .path(let path): place = .file(path: path)
        case .remoteName(let folder): place = .file(path: folder + (try Self.remoteName(of: url)))
        }
    }

    /// The path, or `nil` for standard output.
    var path: String? {
        if case .file(let path) = place { path } else { nil }
    }

    /// Opens the file, or waits until standard output is free.
    func begin() async throws(Failure) {
        if let path {
            do throws(SystemError) {
                if makesFolders {
                    try OutputFile.makeFolders(of: path)
                }
                file = try OutputFile(at: path)
            } catch {
                throw failure(error)
            }
        } else {
            await takeTurn()
        }
    }

    private func takeTurn() async {
        if !hasTurn {
            await turn.take()
        }
        hasTurn = true
    }

    /// Writes to standard output, even if the body is written elsewhere.
    func writeFirst(_ bytes: [UInt8]) async throws(Failure) {
        await takeTurn()
        do throws(SystemError) {
            try Terminal.write(bytes.span, to: Terminal.standardOutput)
        } catch {
            throw Failure(writing: error, to: nil)
        }
        if path != nil {
            end()
        }
    }

    func write(_ bytes: Bytes) throws(Failure) {
        if case .terminal = place, bytes.contains(0) {
            throw Failure(
                ExitCode.write, "the body is binary: -o FILE writes it to a file, -o - to this terminal all the same")
        }
        do throws(SystemError) {
            try bytes.withSpan { (span) throws(SystemError) in try write(span) }
        } catch {
            throw failure(error)
        }
    }

    func write(head: [UInt8]) throws(Failure) {
        do throws(SystemError) {
            try write(head.span)
        } catch {
            throw failure(error)
        }
    }

    private func write(_ span: Span<UInt8>) throws(SystemError) {
        if let file {
            try file.write(span)
        } else {
            try Terminal.write(span, to: Terminal.standardOutput)
        }
    }

    /// Keeps the file, because the body is complete.
    func keep() throws(Failure) {
        do throws(SystemError) {
            try file?.keep()
        } catch {
            throw failure(error)
        }
    }

    /// Frees standard output for the next writer. A file that was not kept is deleted.
    func end() {
        file?.discard()
        if hasTurn {
            turn.give()
        }
        hasTurn = false
    }

    private func failure(_ error: SystemError) -> Failure {
        Failure(writing: error, to: path)
    }

    /// Returns the last segment of the URL's path, unchanged. It is always a name in the current directory.
    static func remoteName(of url: String) throws(Failure) -> String {
        let url = WrittenURL(url)
        let segments = url.path.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
        let name = segments.last.map { String($0) } ?? ""
        let shown = url.withoutLogin
        if name.isEmpty {
            throw Failure(ExitCode.write, "-O finds no file name at the end of \(shown)")
        }
        if name.behind(".") != nil {
            throw Failure(ExitCode.write, "-O takes no name that begins with a dot, as in \(shown)")
        }
        return name
    }

    /// Returns the status line and the fields in the form of HTTP/1.1. The library does not keep the reason phrase.
    static func head(_ version: HTTPVersion, _ status: Int, _ headers: Headers) -> [UInt8] {
        var head = Array("\(version) \(status) \r\n".utf8)
        for field in headers {
            let value = field.bytes
            head += Array("\(field.name):\(value.isEmpty ? "" : " ")".utf8) + Array(value) + Array("\r\n".utf8)
        }
        return head + Array("\r\n".utf8)
    }
}
