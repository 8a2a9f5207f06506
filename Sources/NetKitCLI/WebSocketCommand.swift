import NetKit

/// `nk ws`: opens a WebSocket, sends lines of standard input, and prints the messages that arrive.
enum WebSocketCommand {
    static let help = """
        Usage: nk ws [options] URL

        Opens a WebSocket (ws or wss). Sends each line of standard input as a text
        message, and prints each received message as a line: a text as it is, bytes as
        hex digits. At the end of standard input it closes the socket, and prints what
        the server still sends.

        \(Subcommand.ws.optionLines)

        Most options of a request apply too: see nk --help all. --compressed offers
        compression. -v prints the heads of the handshake, pings, and the close frame.

        Exit code: 0 closed with code 1000, 1001 or none, 2 usage, 26 a line that
        cannot be sent, 103 a message that is not JSON (--json), 109 the handshake was
        refused, 110 the server violated the protocol, 111 closed with another code, or
        without a close frame; otherwise as for a request.

        """

    static func run(_ words: ArraySlice<String>) async -> Int32 {
        do throws(UsageError) {
            let arguments = try WebSocketArguments(words)
            if arguments.request.wantsHelp {
                return Command.show(help)
            }
            return await Command.untilInterrupted { () async throws(Failure) in
                try await TransferRunner(arguments.request).runWebSocket(arguments.settings)
            }
        } catch {
            return Command.complain(Failure(error.exitCode, error.message))
        }
    }
}

extension TransferRunner {
    /// Opens a WebSocket and exchanges messages until its end. Returns the exit code.
    func runWebSocket(_ settings: WebSocketArguments.Settings) async -> Int32 {
        let agent: Agent
        do throws(Failure) {
            agent = try await makeAgent()
        } catch {
            return complain(error)
        }
        var code = ExitCode.success
        do throws(Failure) {
            let socket = try await open(agent, settings)
            try await SocketSession(socket, settings, isVerbose: arguments.isVerbose, console: console).run()
        } catch {
            // A signal ends the command without a message.
            code = Interrupt.caught == nil ? complain(error) : error.exitCode
        }
        return await end(agent, [], code)
    }

    private func open(_ agent: Agent, _ settings: WebSocketArguments.Settings) async throws(Failure) -> WebSocket {
        let transferRequest = try TransferRequest(Job(0, of: arguments), of: arguments)
        let redirectHeads = RedirectHeads()
        var request = transferRequest.request
        request.observers = [redirectHeads]
        defer { warnAboutPins() }
        func show(_ metrics: Metrics, _ last: Response<Bytes>?) {
            let none = last == nil && metrics.last?.status == 0 ? [Headers()] : []
            let heads = redirectHeads.all(with: last).map(\.headers) + none
            console.say(arguments.isVerbose ? Verbose.opening(of: transferRequest, metrics, heads: heads) : [])
        }
        do throws(NetError) {
            let socket = try await agent.webSocket(request, options: settings.options)
            show(socket.response.metrics, socket.response)
            return socket
        } catch {
            show(error.metrics, error.serverResponse)
            throw Failure(error)
        }
    }
}
