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

        Judges a chain as a handshake would.

              --host HOST        the name or address in the URL
              --chain FILE|-     certificates as the server sends them, PEM or DER, the
                                 leaf first
              --ca FILE          believes these authorities alone; without it the
                                 system's
              --port N           443
              --time T           as of then: 2026-01-31T12:00:00Z, 2026-01-31, or
                                 seconds since 1970
              --pin [HOST=]PIN   asks for this key; PIN is sha256/… or 64 hex digits;
                                 may be repeated
              --pin-report-only  tells of pins that do not match, and allows
              --crlfile FILE     revocation lists
              --strict           demands the form of RFC 5280 and of public servers
              --max-chain N      certificates at most, from the leaf to the authority
          -k, --insecure         accepts every chain and name; pins count for the leaf

        Exit code: 0 allowed, 1 refused (the reason is printed), 2 usage, 26 a file
        that cannot be read.

        """

    private struct Question {
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
            let question = try parse(words)
            return question.wantsHelp ? Command.show(help) : try judge(question)
        } catch {
            return Command.complain(Failure(ExitCode.usage, error.message))
        }
    }

    private static func parse(_ words: ArraySlice<String>) throws(UsageError) -> Question {
        var question = Question()
        var rest = words
        while let word = rest.popFirst() {
            switch word {
            case "--host": question.host = try rest.takeValue(of: word)
            case "--chain": question.chain = try rest.takeValue(of: word)
            case "--ca", "--cacert": question.authorities = try rest.takeValue(of: word)
            case "--port": question.port = try port(try rest.takeValue(of: word))
            case "--time": question.date = try date(try rest.takeValue(of: word))
            case "--pin": question.pins.append(try rest.takeValue(of: word))
            case "--pin-report-only": question.reportsOnly = true
            case "--crlfile": question.revocationLists = try rest.takeValue(of: word)
            case "--strict", "--trust-strict": question.isStrict = true
            case "--max-chain", "--trust-max-chain":
                question.maximumChainLength = try OptionValue.chainLength(try rest.takeValue(of: word), of: word)
            case "-k", "--insecure": question.isInsecure = true
            case "-h", "--help": question.wantsHelp = true
            default: throw UsageError("trust takes no '\(word)'; nk trust --help lists what there is")
            }
        }
        return question
    }

    private static func port(_ text: String) throws(UsageError) -> Int {
        guard let port = Int(text), (1...65535).contains(port) else { throw UsageError("'\(text)' is no port") }
        return port
    }

    private static func date(_ text: String) throws(UsageError) -> Date {
        if let seconds = Int64(text) {
            return Date(timeIntervalSince1970: Double(seconds))
        }
        let whole = text.contains("T") ? text : text + "T00:00:00Z"
        guard let date = try? Date(whole, strategy: .iso8601) else { throw UsageError("'\(text)' is no time") }
        return date
    }

    private static func judge(_ question: Question) throws(UsageError) -> Int32 {
        guard let host = question.host, let path = question.chain else {
            throw UsageError("trust needs --host and --chain; nk trust --help lists what there is")
        }
        let chain: [UInt8]
        do throws(SystemError) {
            chain = try InputFile.contents(of: path)
        } catch {
            return Command.complain(Failure(reading: error, from: path))
        }
        var arguments = TrustArguments()
        for pin in question.pins {
            arguments.pins.append(
                OptionValue.isPin(pin) ? .init(hosts: bracketed(host), text: pin) : try OptionValue.pin(pin))
        }
        arguments.reportsOnly = question.reportsOnly
        arguments.revocationLists = question.revocationLists
        arguments.isStrict = question.isStrict
        arguments.maximumChainLength = question.maximumChainLength
        do throws(Failure) {
            let policy = try arguments.policy(
                for: nil, authorities: question.authorities, isInsecure: question.isInsecure)
            let verdict = try evaluate(policy, chain, host, question)
            let code = Command.show(lines(of: verdict))
            return code != ExitCode.success ? code : verdict.isAllowed ? ExitCode.success : 1
        } catch {
            return Command.complain(error)
        }
    }

    private static func evaluate(
        _ policy: TrustPolicy, _ chain: [UInt8], _ host: String, _ question: Question
    ) throws(Failure) -> TrustVerdict {
        do throws(NetError) {
            return try policy.evaluate(chain: chain, host: host, port: question.port, at: question.date)
        } catch {
            throw Failure(error)
        }
    }

    /// An IPv6 address in a pattern is enclosed in brackets.
    private static func bracketed(_ host: String) -> String {
        host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    }

    private static func lines(of verdict: TrustVerdict) -> String {
        var text = verdict.isAllowed ? "allowed\n" : "refused: \(Verbose.printable(verdict.message))\n"
        if verdict.isAllowed, verdict.finding != nil {
            text += "note: \(Verbose.printable(verdict.message))\n"
        }
        let kind = verdict.isVerified ? "verified" : "sent"
        for pin in verdict.chainPins {
            text += "\(kind) \(pin)\n"
        }
        for pin in verdict.policyPins {
            text += "pinned \(pin)\n"
        }
        return text
    }
}
