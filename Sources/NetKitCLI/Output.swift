import NetKit

/// The destination of one body: standard output, or a file that is written atomically.
final class Output {
    private enum Destination {
        case standardOutput
        // A terminal. Binary data is an error there, unless the user has requested it with -o -.
        case terminal
        case file(path: String)
    }

    private let destination: Destination
    private let mutex: AsyncMutex
    private let makesFolders: Bool
    private var file: OutputFile?
    private var holdsStandardOutput = false
    /// Indents the body, if it is JSON for a reader.
    private var printer: JSONPrinter?
    /// The last byte that a terminal has got, for a line end after the body.
    private var lastByte: UInt8?

    /// - Parameters:
    ///   - makesFolders: whether missing directories of the path are created.
    ///   - mutex: the mutex of standard output, which admits one writer at a time.
    init(
        _ choice: Arguments.OutputDestination?, of url: String, makesFolders: Bool, mutex: AsyncMutex
    ) throws(Failure) {
        self.mutex = mutex
        self.makesFolders = makesFolders
        switch choice {
        case nil: destination = Window.isTerminal(Terminal.standardOutput) ? .terminal : .standardOutput
        case .path("-"): destination = .standardOutput
        case .path(let path): destination = .file(path: path)
        case .remoteName(let folder): destination = .file(path: folder + (try Self.remoteName(of: url)))
        }
    }

    /// The path of the file, or `nil` for standard output.
    var path: String? {
        if case .file(let path) = destination { path } else { nil }
    }

    /// Whether the body is written to a regular file.
    var isRegularFile: Bool { path.map(OutputFile.isReplaced) ?? false }

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
            await lockStandardOutput()
        }
    }

    private func lockStandardOutput() async {
        if !holdsStandardOutput {
            await mutex.lock()
        }
        holdsStandardOutput = true
    }

    /// Writes to standard output before the body, even if the body is written to a file.
    func writeFirst(_ bytes: [UInt8]) async throws(Failure) {
        await lockStandardOutput()
        do throws(SystemError) {
            try Terminal.write(bytes.span, to: Terminal.standardOutput)
        } catch {
            throw Failure(writing: error, to: nil)
        }
        if path != nil {
            end()
        }
    }

    /// Whether a person reads the body: it goes to a terminal, and -o - does not request its bytes.
    var isTerminal: Bool {
        if case .terminal = destination { true } else { false }
    }

    /// Indents and colours the body, which is JSON.
    func printJSON(hasColours: Bool) {
        if path == nil {
            printer = JSONPrinter(hasColours: hasColours)
        }
    }

    func write(_ bytes: Bytes) throws(Failure) {
        if let text = printer?.print(bytes) {
            return try write(head: text)
        }
        if isTerminal, bytes.contains(0) {
            throw Failure(
                ExitCode.write,
                "the body is binary and would be shown on the terminal; use -o FILE to save it, or -o - to show it anyway"
            )
        }
        do throws(SystemError) {
            try bytes.withSpan { (span) throws(SystemError) in try write(span) }
        } catch {
            throw failure(error)
        }
        lastByte = bytes.last ?? lastByte
    }

    /// Ends the last line of a body on a terminal, so that the next text begins in a new one.
    func endLine() throws(Failure) {
        let end = printer?.end() ?? []
        if !end.isEmpty {
            try write(head: end)
        }
        if isTerminal, let lastByte, lastByte != 0x0a {
            try write(head: [0x0a])
        }
    }

    func write(head: [UInt8]) throws(Failure) {
        do throws(SystemError) {
            try write(head.span)
        } catch {
            throw failure(error)
        }
        lastByte = head.last ?? lastByte
    }

    private func write(_ span: Span<UInt8>) throws(SystemError) {
        if let file {
            try file.write(span)
        } else {
            try Terminal.write(span, to: Terminal.standardOutput)
        }
    }

    /// Moves the file to its path, because the body is complete.
    func keep() throws(Failure) {
        do throws(SystemError) {
            try file?.keep()
        } catch {
            throw failure(error)
        }
    }

    /// Ends the output. Standard output becomes free for the next writer. An incomplete file is deleted.
    func end() {
        file?.discard()
        if holdsStandardOutput {
            mutex.unlock()
        }
        holdsStandardOutput = false
    }

    private func failure(_ error: SystemError) -> Failure {
        Failure(writing: error, to: path)
    }

    /// Returns the last segment of the URL's path, without decoding it. It contains no slash, so it is always a name
    /// within one directory.
    static func remoteName(of url: String) throws(Failure) -> String {
        let url = URLText(url)
        let segments = url.path.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
        let name = segments.last.map { String($0) } ?? ""
        let shown = url.withoutLogin
        if name.isEmpty {
            throw Failure(ExitCode.write, "-O found no file name in \(shown); use -o FILE")
        }
        if name.behind(".") != nil {
            throw Failure(ExitCode.write, "-O does not write a hidden file, as in \(shown); use -o FILE")
        }
        return name
    }

    /// Returns the status line and the fields in the form of HTTP/1.1. The reason phrase is empty, because the library
    /// does not keep it.
    static func head(_ version: HTTPVersion, _ status: Int, _ headers: Headers) -> [UInt8] {
        var head = Array("\(version) \(status) \r\n".utf8)
        for field in headers {
            let value = field.bytes
            head += Array("\(field.name):\(value.isEmpty ? "" : " ")".utf8) + Array(value) + Array("\r\n".utf8)
        }
        return head + Array("\r\n".utf8)
    }
}
