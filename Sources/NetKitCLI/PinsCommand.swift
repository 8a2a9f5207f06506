import NetKit
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `nk pins`: prints the certificates of a server or a file, and their pins for a policy.
enum PinsCommand {
    static let help = """
        Usage: nk pins [options] HOST[:PORT] | FILE | -

        Shows each certificate of a server's chain, or of a file (PEM or DER), with
        the pin of its key, and a ready line for a policy. Of a server that is
        believed it is the verified chain, the root included; a chain that is not
        believed is shown as it was sent, with a word on why. No request is sent.

              --cacert FILE   believes these authorities alone
          -x, --proxy URL     asks through a proxy

        Exit code: 0 shown, 2 usage, 26 a file that cannot be read, 60 one that holds
        no certificate, and those of connecting.

        """

    private struct Errand {
        var target: String?
        var authorities: String?
        var proxy: ProxyPlace?
        var wantsHelp = false
    }

    static func run(_ words: ArraySlice<String>) async -> Int32 {
        do throws(UsageError) {
            let task = try parse(words)
            if task.wantsHelp {
                return Command.show(help)
            }
            return await show(task)
        } catch {
            return Command.complain(Failure(error.exitCode, error.message))
        }
    }

    private static func parse(_ words: ArraySlice<String>) throws(UsageError) -> Errand {
        var task = Errand()
        var rest = words
        while let word = rest.popFirst() {
            switch word {
            case "-h", "--help": task.wantsHelp = true
            case "--cacert", "--ca", "-x", "--proxy":
                let value = try rest.takeValue(of: word)
                if word.contains("ca") {
                    task.authorities = value
                } else {
                    task.proxy = try OptionValue.proxy(value)
                }
            default:
                if task.target != nil || (word.hasPrefix("-") && word != "-") || word.isEmpty {
                    throw UsageError("pins takes no '\(word)'; nk pins --help lists what there is")
                }
                task.target = word
            }
        }
        if task.target == nil && !task.wantsHelp {
            throw UsageError("pins needs a host or a file; nk pins --help lists what there is")
        }
        return task
    }

    private static func show(_ task: Errand) async -> Int32 {
        let target = task.target ?? ""
        do throws(Failure) {
            let isFile = target == "-" || target.contains("/") || FileManager.default.fileExists(atPath: target)
            if isFile {
                return Command.show(lines(of: try certificates(in: target), hosts: "HOST"))
            }
            let (event, hosts) = try await meet(target, task)
            var chain: [Certificate] = []
            for der in event.chain {
                chain += try read(der, from: target)
            }
            if !event.verdict.isAllowed {
                Terminal.complain("nk: note: \(Verbose.printable(event.verdict.message))")
            }
            return Command.show(lines(of: chain, hosts: hosts))
        } catch {
            return Command.complain(error)
        }
    }

    private static func certificates(in path: String) throws(Failure) -> [Certificate] {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try InputFile.contents(of: path)
        } catch {
            throw Failure(reading: error, from: path)
        }
        return try read(bytes, from: path == "-" ? "standard input" : path)
    }

    private static func read(_ bytes: [UInt8], from place: String) throws(Failure) -> [Certificate] {
        do throws(NetError) {
            return try Certificate.read(bytes)
        } catch {
            throw Failure(ExitCode.of(error), "\(place): \(error.message)")
        }
    }

    /// Begins a handshake and refuses every certificate, so that nothing is sent.
    private static func meet(_ target: String, _ task: Errand) async throws(Failure) -> (TrustEvent, String) {
        let seen = Lock<TrustEvent?>(nil)
        var policy = TrustPolicy(roots: task.authorities.map { .file($0) } ?? .system)
        policy.observer = TrustObserver(decide: { event in
            seen.withLock { $0 = event }
            return false
        })
        var request = Request<Bytes>("https://\(target)/", method: .head)
        request.trust = policy
        request.proxy = task.proxy?.proxy()
        let agent = Agent()
        let failure: NetError?
        do throws(NetError) {
            _ = try await agent.send(request)
            failure = nil
        } catch {
            failure = error
        }
        await agent.shutdown()
        guard let event = seen.withLock({ $0 }) else {
            throw failure.map { Failure($0) } ?? Failure(ExitCode.usage, "'\(target)' showed no certificate")
        }
        let host = WrittenURL(request.url).host
        return (event, event.port == 443 ? host : "\(host):\(event.port)")
    }

    // MARK: Output

    private static func lines(of chain: [Certificate], hosts: String) -> String {
        var text = ""
        for (index, certificate) in chain.enumerated() {
            let role = index == 0 ? " (leaf)" : certificate.isAuthority ? " (authority)" : ""
            text += """
                certificate \(index + 1)\(role)
                  subject   \(Verbose.printable(certificate.subject))
                  issuer    \(Verbose.printable(certificate.issuer))
                  valid     \(time(certificate.begins)) to \(time(certificate.ends))
                  names     \(certificate.names.isEmpty ? "none" : Verbose.printable(certificate.names))
                  key       \(Verbose.printable(certificate.key))
                  pin       \(certificate.pin)

                """
        }
        let pins = policyPins(of: chain)
        let options = pins.map { "--pin '\(hosts)=\($0)'" }.joined(separator: " ")
        let strings = pins.map { "\"\($0)\"" }.joined(separator: ", ")
        return text + "policy      \(options)\n            try .pinned(\"\(hosts)\", [\(strings)])\n"
    }

    /// Returns the pins of the leaf and, as a backup, of its issuer. A new key that is not in use yet is a better
    /// backup.
    private static func policyPins(of chain: [Certificate]) -> [String] {
        var pins: [String] = []
        for certificate in chain.prefix(2) where !pins.contains(certificate.pin) {
            pins.append(certificate.pin)
        }
        return pins
    }

    private static func time(_ date: Date?) -> String {
        date.map { $0.formatted(.iso8601) } ?? "unknown"
    }
}
