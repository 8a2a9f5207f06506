import NetKit

/// `nk path [HOST]`: prints the network path to the internet, or to a host.
enum PathCommand {
    static let help = """
        Usage: nk path [--watch] [--count N] [HOST]

        Prints how the internet, or a host, is reached: the status, the interface and
        its kind. Nothing is sent, but for the lookup of a name.

          -w, --watch     goes on, a line for each change, until it is interrupted
              --count N   with --watch: ends after N lines

        Exit code 0 when there is a way, 1 when there is none or nobody knows, 2 for
        bad input.

        """

    private struct Question {
        var host: String?
        var isWatching = false
        var count = Int.max
        var wantsHelp = false

        init(_ words: ArraySlice<String>) throws(UsageError) {
            var rest = words
            while let word = rest.popFirst() {
                switch word {
                case "-h", "--help": wantsHelp = true
                case "-w", "--watch": isWatching = true
                case "--count": count = try rest.takeCount(of: word)
                case _ where word.hasPrefix("-"): throw UsageError("path knows no option \(word)")
                case _ where host != nil || word.isEmpty: throw UsageError("path takes one host; nk path --help")
                default: host = word
                }
            }
            if count != .max, !isWatching {
                throw UsageError("--count goes with --watch")
            }
            if let host, host.utf8.count > 255 || host.contains("/") {
                throw UsageError("'\(host)' is no host: a name or an address")
            }
        }
    }

    static func run(_ words: ArraySlice<String>) async -> Int32 {
        let question: Question
        do throws(UsageError) {
            question = try Question(words)
        } catch {
            return Command.complain(Failure(ExitCode.usage, error.message))
        }
        if question.wantsHelp {
            return Command.show(help)
        }
        let reachability = Reachability(host: question.isWatching ? question.host : nil)
        if let failure = reachability.failure {
            return Command.complain(Failure(1, failure.message))
        }
        if question.isWatching {
            return await watch(reachability, question.count)
        }
        let state = await question.host.asyncMap { await reachability.state(of: $0) } ?? reachability.state
        let shown = Command.show(line(state))
        return shown == ExitCode.success && !state.isReachable ? 1 : shown
    }

    private static func watch(_ reachability: Reachability, _ count: Int) async -> Int32 {
        await Command.untilInterrupted {
            var left = count
            var last = PathState(.unknown)
            for await state in reachability {
                last = state
                let code = Command.show(line(state))
                left -= 1
                if code != ExitCode.success || left == 0 {
                    return code != ExitCode.success ? code : last.isReachable ? 0 : 1
                }
            }
            return last.isReachable ? Int32(0) : 1
        }
    }

    /// `via Wi-Fi or wired: eth0, wired, IPv4 IPv6`.
    static func line(_ state: PathState) -> String {
        guard state.isReachable else { return "\(state.status)\n" }
        var parts = [state.interface, state.kind.rawValue]
        if state.carrier != state.kind {
            parts[1] += " over \(state.carrier.rawValue)"
        }
        parts.append(
            (state.hasIPv4 ? ["IPv4"] : []).joined() + (state.hasIPv4 && state.hasIPv6 ? " " : "")
                + (state.hasIPv6 ? "IPv6" : ""))
        return "\(state.status): \(parts.joined(separator: ", "))\n"
    }
}

extension Optional {
    fileprivate func asyncMap<Result>(_ transform: (Wrapped) async -> Result) async -> Result? {
        guard let self else { return nil }
        return await transform(self)
    }
}
