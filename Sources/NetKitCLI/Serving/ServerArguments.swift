import NetKit

/// The arguments that `nk serve` and `nk mock` share.
struct ServerArguments {
    var address = "127.0.0.1"
    var port: UInt16 = 0
    var isQuiet = false
    /// The file to which the certificate of the server's authority is written. If it is set, the server uses TLS.
    var authorityPath: String?
    var wantsHelp = false
    /// The path of the directory or document to serve.
    var path: String?

    /// The options of these commands; see ``Subcommand``.
    static let options: [Subcommand.Option] = [
        .init(nil, "port", "N", "Listen on this port; 0: any free port (0)"),
        .init(nil, "bind", "ADDRESS", "Listen on this address (127.0.0.1)"),
        .init(nil, "tls", "FILE", "Use TLS; write the CA to trust to FILE (PEM)"),
        .init("s", "silent", nil, "Do not log requests"),
    ]

    /// Parses the arguments.
    ///
    /// - Parameter take: handles an option that only this command has. Returns false for an unknown option.
    init(
        _ words: ArraySlice<String>, of command: String,
        _ take: (String, inout ArraySlice<String>) throws(UsageError) -> Bool = { (_, _) throws(UsageError) in false }
    ) throws(UsageError) {
        var rest = words
        var areOptionsOver = false
        while let word = rest.popFirst() {
            if areOptionsOver || word == "-" || !word.hasPrefix("-") {
                if path != nil {
                    throw UsageError("\(command) accepts one path; unexpected '\(word)'")
                }
                path = word
                continue
            }
            switch word {
            case "--": areOptionsOver = true
            case "-h", "--help": wantsHelp = true
            case "-s", "--silent": isQuiet = true
            case "--port": port = try Self.port(try rest.takeValue(of: word))
            case "--bind": address = try rest.takeValue(of: word)
            case "--tls": authorityPath = try rest.takeValue(of: word)
            default:
                if try !take(word, &rest) {
                    throw UsageError("\(command): unknown option \(word); see nk \(command) --help")
                }
            }
        }
    }

    private static func port(_ text: String) throws(UsageError) -> UInt16 {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let port = UInt16(text) else {
            throw UsageError("--port '\(text)' is not a number from 0 to 65535")
        }
        return port
    }

    /// Serves requests until a signal arrives or `ending` requests the end. Prints the URL of the server first. Returns
    /// the exit code.
    func listen(with service: any RequestHandler, until ending: Ending) async -> Int32 {
        do throws(Failure) {
            let server: ListeningServer
            do throws(SystemError) {
                server = try ListeningServer(service, address: address, port: port, isSecure: authorityPath != nil)
            } catch {
                throw Failure(ExitCode.usage, "cannot listen on \(address), port \(port): \(error.message)")
            }
            if let authorityPath {
                do throws(SystemError) {
                    try OutputFile.write(server.authority, to: authorityPath)
                } catch {
                    throw Failure(writing: error, to: authorityPath)
                }
            }
            Interrupt.watchIgnored()
            Interrupt.onFirst { ending.end(ExitCode.success) }
            let host = address.contains(":") ? "[\(address)]" : address
            do throws(SystemError) {
                let scheme = authorityPath == nil ? "http" : "https"
                try Terminal.write("\(scheme)://\(host):\(server.port)/\n", to: Terminal.standardOutput)
            } catch {
                throw Failure(writing: error, to: nil)
            }
            let code = await ending.wait()
            withExtendedLifetime(server) {}
            return code
        } catch {
            return Command.complain(error)
        }
    }
}

/// A request to end a server. It can come from any thread; only the first one counts.
final class Ending: Sendable {
    private struct State: Sendable {
        var code: Int32?
        var waiter: CheckedContinuation<Int32, Never>?
    }

    private let state = Lock(State())

    func end(_ code: Int32) {
        let waiter = state.withLock { state -> CheckedContinuation<Int32, Never>? in
            defer { state.waiter = nil }
            state.code = state.code ?? code
            return state.waiter
        }
        waiter?.resume(returning: code)
    }

    /// Waits and returns the exit code. Only one task may wait.
    func wait() async -> Int32 {
        await withCheckedContinuation { continuation in
            let code = state.withLock { state -> Int32? in
                if state.code == nil {
                    state.waiter = continuation
                }
                return state.code
            }
            if let code {
                continuation.resume(returning: code)
            }
        }
    }
}
