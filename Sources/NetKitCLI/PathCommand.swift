import NetKit
import NetKitOffline

/// `nk path [HOST]`: prints the network path to the internet, or to a host.
enum PathCommand {
    static let help = """
        Usage: nk path [--watch] [--count N] [HOST]

        Prints the network path to the internet or to a host: status, interface and
        type of connection. Nothing is sent except a DNS query for HOST.

          -w, --watch     Print a line for each change, until interrupted
              --count N   Stop after N lines (with --watch)

        Exit code: 0 reachable, 1 not reachable or unknown, 2 usage.

        """

    private struct ParsedArguments {
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
                case _ where word.hasPrefix("-"): throw UsageError("path: unknown option \(word); see nk path --help")
                case _ where host != nil || word.isEmpty: throw UsageError("path accepts one host; see nk path --help")
                default: host = word
                }
            }
            if count != .max, !isWatching {
                throw UsageError("--count requires --watch")
            }
            if let host, host.utf8.count > 255 || host.contains("/") {
                throw UsageError("invalid host '\(host)': expected a name or an address")
            }
        }
    }

    static func run(_ words: ArraySlice<String>) async -> Int32 {
        let arguments: ParsedArguments
        do throws(UsageError) {
            arguments = try ParsedArguments(words)
        } catch {
            return Command.complain(Failure(ExitCode.usage, error.message))
        }
        if arguments.wantsHelp {
            return Command.show(help)
        }
        let reachability = Reachability(host: arguments.isWatching ? arguments.host : nil)
        if let failure = reachability.failure {
            return Command.complain(Failure(1, failure.message))
        }
        if arguments.isWatching {
            return await watch(reachability, arguments.count)
        }
        let state = await arguments.host.asyncMap { await reachability.state(of: $0) } ?? reachability.state
        let printCode = Command.show(line(state))
        return printCode == ExitCode.success && !state.isReachable ? 1 : printCode
    }

    private static func watch(_ reachability: Reachability, _ count: Int) async -> Int32 {
        await Command.untilInterrupted {
            var remainingCount = count
            var last = PathState(.unknown)
            for await state in reachability {
                last = state
                let code = Command.show(line(state))
                remainingCount -= 1
                if code != ExitCode.success || remainingCount == 0 {
                    return code != ExitCode.success ? code : last.isReachable ? 0 : 1
                }
            }
            return last.isReachable ? Int32(0) : 1
        }
    }

    /// Returns the description of a state, such as `via Wi-Fi or wired: eth0, wired, IPv4 IPv6`.
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
