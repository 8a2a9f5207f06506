import NetKit
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `nk trust`: evaluates a certificate chain without a network.
enum TrustCommand {
    static let help = """
        Usage: nk trust --host HOST --chain FILE [options]

        Checks a certificate chain as a TLS handshake would.

              --host HOST        Check for this host name or address
              --chain FILE|-     Read the server's certificates, PEM or DER, leaf first
              --ca FILE          Trust only the CA certificates in FILE (the system's)
              --port N           Use this port (443)
              --time T           Check at this time: 2026-01-31T12:00:00Z, 2026-01-31,
                                 or seconds since 1970
              --pin [HOST=]PIN   Require this key: sha256/… or 64 hex digits; repeatable
              --pin-report-only  Report pin mismatches, but allow the chain
              --crlfile FILE     Read certificate revocation lists from FILE
              --strict           Require RFC 5280 and CA/Browser Forum rules
              --max-chain N      Allow at most N certificates, from leaf to CA
          -k, --insecure         Accept any chain and name; pins apply to the leaf

        Exit code: 0 trusted, 1 rejected (the reason is printed), 2 usage,
        26 cannot read a file.

        """

    private struct ParsedArguments {
        var host: String?
        var chain: String?
        var authorities: String?
        var port = 443
        var date = Date()
        var pins: [String] = []
        var reportsOnly = false
        var revocationLists: String?
        var isInsecure = false
        var isStrict = false
        var maximumChainLength: Int?
        var wantsHelp = false
    }

    static func run(_ words: ArraySlice<String>) -> Int32 {
        do throws(UsageError) {
            let parsed = try parse(words)
            return parsed.wantsHelp ? Command.show(help) : try evaluateChain(parsed)
        } catch {
            return Command.complain(Failure(ExitCode.usage, error.message))
        }
    }

    private static func parse(_ words: ArraySlice<String>) throws(UsageError) -> ParsedArguments {
        var parsed = ParsedArguments()
        var rest = words
        while let word = rest.popFirst() {
            switch word {
            case "--host": parsed.host = try rest.takeValue(of: word)
            case "--chain": parsed.chain = try rest.takeValue(of: word)
            case "--ca", "--cacert": parsed.authorities = try rest.takeValue(of: word)
            case "--port": parsed.port = try port(try rest.takeValue(of: word))
            case "--time": parsed.date = try date(try rest.takeValue(of: word))
            case "--pin": parsed.pins.append(try rest.takeValue(of: word))
            case "--pin-report-only": parsed.reportsOnly = true
            case "--crlfile": parsed.revocationLists = try rest.takeValue(of: word)
            case "--strict", "--trust-strict": parsed.isStrict = true
            case "--max-chain", "--trust-max-chain":
                parsed.maximumChainLength = try OptionValue.chainLength(try rest.takeValue(of: word), of: word)
            case "-k", "--insecure": parsed.isInsecure = true
            case "-h", "--help": parsed.wantsHelp = true
            default: throw UsageError("trust: unexpected argument '\(word)'; see nk trust --help")
            }
        }
        return parsed
    }

    private static func port(_ text: String) throws(UsageError) -> Int {
        guard let port = Int(text), (1...65535).contains(port) else {
            throw UsageError("invalid --port '\(text)': expected 1 to 65535")
        }
        return port
    }

    private static func date(_ text: String) throws(UsageError) -> Date {
        if let seconds = Int64(text) {
            return Date(timeIntervalSince1970: Double(seconds))
        }
        let dateAndTime = text.contains("T") ? text : text + "T00:00:00Z"
        guard let date = try? Date(dateAndTime, strategy: .iso8601) else {
            throw UsageError(
                "invalid --time '\(text)': expected 2026-01-31, 2026-01-31T12:00:00Z or seconds since 1970")
        }
        return date
    }

    private static func evaluateChain(_ parsed: ParsedArguments) throws(UsageError) -> Int32 {
        guard let host = parsed.host, let path = parsed.chain else {
            throw UsageError("trust needs --host and --chain; see nk trust --help")
        }
        let chain: [UInt8]
        do throws(SystemError) {
            chain = try InputFile.contents(of: path)
        } catch {
            return Command.complain(Failure(reading: error, from: path))
        }
        var arguments = TrustArguments()
        for pin in parsed.pins {
            arguments.pins.append(
                OptionValue.isPin(pin) ? .init(hosts: bracketed(host), text: pin) : try OptionValue.pin(pin))
        }
        arguments.reportsOnly = parsed.reportsOnly
        arguments.revocationLists = parsed.revocationLists
        arguments.isStrict = parsed.isStrict
        arguments.maximumChainLength = parsed.maximumChainLength
        do throws(Failure) {
            let policy = try arguments.policy(
                for: nil, authorities: parsed.authorities, isInsecure: parsed.isInsecure)
            let trustResult = try evaluate(policy, chain, host, parsed)
            let code = Command.show(lines(of: trustResult))
            return code != ExitCode.success ? code : trustResult.isAllowed ? ExitCode.success : 1
        } catch {
            return Command.complain(error)
        }
    }

    private static func evaluate(
        _ policy: TrustPolicy, _ chain: [UInt8], _ host: String, _ parsed: ParsedArguments
    ) throws(Failure) -> TrustResult {
        do throws(NetError) {
            return try policy.evaluate(chain: chain, host: host, port: parsed.port, at: parsed.date)
        } catch {
            throw Failure(error)
        }
    }

    /// Returns a host in the form of a host pattern, in which an IPv6 address is in brackets.
    private static func bracketed(_ host: String) -> String {
        host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    }

    private static func lines(of trustResult: TrustResult) -> String {
        var text = trustResult.isAllowed ? "allowed\n" : "refused: \(Verbose.printable(trustResult.message))\n"
        if trustResult.isAllowed, trustResult.finding != nil {
            text += "note: \(Verbose.printable(trustResult.message))\n"
        }
        let kind = trustResult.isVerified ? "verified" : "sent"
        for pin in trustResult.chainPins {
            text += "\(kind) \(pin)\n"
        }
        for pin in trustResult.policyPins {
            text += "pinned \(pin)\n"
        }
        return text
    }
}
