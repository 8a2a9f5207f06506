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

        Prints each certificate of a server's chain, or of a PEM or DER file, with the
        pin of its key, and an option line to pin it. For a trusted server it shows the
        verified chain with the root. For an untrusted one it shows the chain as sent
        and the reason. No HTTP request is sent.

              --cacert FILE   Trust only the CA certificates in FILE
          -x, --proxy URL     Connect through a proxy

        Exit code: 0 success, 2 usage, 26 cannot read FILE, 60 no certificate in FILE,
        or as for nk URL.

        """

    private struct ParsedArguments {
        var target: String?
        var authorities: String?
        var proxy: ProxyAddress?
        var wantsHelp = false
    }

    static func run(_ words: ArraySlice<String>) async -> Int32 {
        do throws(UsageError) {
            let arguments = try parse(words)
            if arguments.wantsHelp {
                return Command.show(help)
            }
            return await show(arguments)
        } catch {
            return Command.complain(Failure(error.exitCode, error.message))
        }
    }

    private static func parse(_ words: ArraySlice<String>) throws(UsageError) -> ParsedArguments {
        var arguments = ParsedArguments()
        var rest = words
        while let word = rest.popFirst() {
            switch word {
            case "-h", "--help": arguments.wantsHelp = true
            case "--cacert", "--ca", "-x", "--proxy":
                let value = try rest.takeValue(of: word)
                if word.contains("ca") {
                    arguments.authorities = value
                } else {
                    arguments.proxy = try OptionValue.proxy(value)
                }
            default:
                if arguments.target != nil || (word.hasPrefix("-") && word != "-") || word.isEmpty {
                    throw UsageError("pins: unexpected argument '\(word)'; see nk pins --help")
                }
                arguments.target = word
            }
        }
        if arguments.target == nil && !arguments.wantsHelp {
            throw UsageError("pins needs a host or a file; see nk pins --help")
        }
        return arguments
    }

    private static func show(_ arguments: ParsedArguments) async -> Int32 {
        let target = arguments.target ?? ""
        do throws(Failure) {
            let isFile = target == "-" || target.contains("/") || FileManager.default.fileExists(atPath: target)
            if isFile {
                return Command.show(lines(of: try certificates(in: target), hosts: "HOST"))
            }
            let (event, hosts) = try await receivedChain(target, arguments)
            var chain: [Certificate] = []
            for der in event.chain {
                chain += try read(der, from: target)
            }
            if !event.trustResult.isAllowed {
                Terminal.complain("nk: note: \(Verbose.printable(event.trustResult.message))")
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

    private static func read(_ bytes: [UInt8], from source: String) throws(Failure) -> [Certificate] {
        do throws(NetError) {
            return try Certificate.read(bytes)
        } catch {
            throw Failure(ExitCode.of(error), "\(source): \(error.message)")
        }
    }

    /// Returns the evaluation of a server's certificate chain, and the host for a pin rule. It starts a handshake and
    /// refuses the certificate, so that no request is sent.
    private static func receivedChain(_ target: String, _ arguments: ParsedArguments) async throws(Failure) -> (
        TrustEvent, String
    ) {
        let receivedEvent = Lock<TrustEvent?>(nil)
        var policy = TrustPolicy(roots: arguments.authorities.map { .file($0) } ?? .system)
        policy.observer = TrustObserver(decide: { event in
            receivedEvent.withLock { $0 = event }
            return false
        })
        var request = Request<Bytes>("https://\(target)/", method: .head)
        request.trust = policy
        request.proxy = arguments.proxy?.proxy() ?? .inherited
        let agent = Agent()
        let failure: NetError?
        do throws(NetError) {
            _ = try await agent.send(request)
            failure = nil
        } catch {
            failure = error
        }
        await agent.shutdown()
        guard let event = receivedEvent.withLock({ $0 }) else {
            throw failure.map { Failure($0) } ?? Failure(ExitCode.usage, "'\(target)' sent no certificate")
        }
        let host = URLText(request.url).host
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
                  names     \(names(of: certificate))
                  key       \(Verbose.printable(certificate.key))
                  pin       \(certificate.pin)

                """
        }
        let pins = policyPins(of: chain)
        let options = pins.map { "--pin '\(hosts)=\($0)'" }.joined(separator: " ")
        let strings = pins.map { "\"\($0)\"" }.joined(separator: ", ")
        return text + "policy      \(options)\n            try .pinned(\"\(hosts)\", [\(strings)])\n"
    }

    /// Returns the names for which a certificate is valid, each once.
    private static func names(of certificate: Certificate) -> String {
        var names: [String] = []
        for name in certificate.names.split(separator: ", ").map(String.init) where !names.contains(name) {
            names.append(name)
        }
        let text = names.joined(separator: ", ")
        return text.isEmpty ? "none" : Verbose.printable(text)
    }

    /// Returns the pins of the leaf and, as a backup, of its issuer. The pin of a reserve key would be a better backup,
    /// but it is not in the chain.
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
