import NetKit

/// Where one body goes: standard output, or a file that appears whole.
final class Output {
    private enum Place {
        case standardOutput
        // As long as nothing binary comes that nobody has asked for there.
        case terminal
        case file(path: String)
    }

    private let place: Place
    private let turn: Turn
    private let makesFolders: Bool
    private var file: OutputFile?
    private var hasTurn = false

    /// - Parameters:
    ///   - makesFolders: whether those are made that a file's path names.
    ///   - turn: whose it is to write to standard output.
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

    /// Nil for standard output.
    var path: String? {
        if case .file(let path) = place { path } else { nil }
    }

    /// Opens it, or waits for its turn.
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

    /// Writes to standard output, wherever the body goes.
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

    /// What came is what was meant to come.
    func keep() throws(Failure) {
        do throws(SystemError) {
            try file?.keep()
        } catch {
            throw failure(error)
        }
    }

    /// Lets the next one write; a file that is not kept disappears.
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

    /// The last segment of the URL's path, as it stands there: a name in the current folder, and no other place.
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

    /// The status line and the fields, as HTTP/1.1 spells them; the library keeps no reason phrase.
    static func head(_ version: HTTPVersion, _ status: Int, _ headers: Headers) -> [UInt8] {
        var head = Array("\(version) \(status) \r\n".utf8)
        for field in headers {
            let value = field.bytes
            head += Array("\(field.name):\(value.isEmpty ? "" : " ")".utf8) + Array(value) + Array("\r\n".utf8)
        }
        return head + Array("\r\n".utf8)
    }
}
