import NetKitOffline
import Testing

@testable import NetKitCLI

@Suite(.timeLimit(.minutes(5)))
struct PathCommandTests {
    @Test func routeToThisMachineIsPrinted() async throws {
        let outcome = try await nk("path", "127.0.0.1")
        #expect(outcome.code == 0 && outcome.errors == "")
        #expect(outcome.text == "via Wi-Fi or wired: lo, loopback, IPv4\n")
    }

    @Test func exitCodeReportsWhetherARouteExists() async throws {
        let outcome = try await nk("path")
        #expect(outcome.code == (outcome.text.hasPrefix("via ") ? 0 : 1))
        #expect(outcome.text == PathCommand.line(Reachability().state))
    }

    @Test func watchingPrintsTheStateFirstAndEndsAfterItsLines() async throws {
        let outcome = try await nk("path", "--watch", "--count", "1", "::1")
        #expect(outcome.code == 0)
        #expect(outcome.text == "via Wi-Fi or wired: lo, loopback, IPv6\n")
        #expect(outcome.errors == "")
    }

    @Test func watchingEndsWithASignal() async throws {
        let run = try start(["path", "--watch"])
        await run.waitForOutput()
        run.send(2)
        let outcome = await run.ended()
        #expect(outcome.code == -2 && outcome.errors == "")
        #expect(outcome.text.split(separator: "\n").count == 1)
    }

    @Test func linesDescribeTheInterfaces() {
        let vpn = PathState(
            .viaCellular, kind: .vpn, carrier: .cellular, interface: "tun0", hasIPv4: true, hasIPv6: true)
        #expect(PathCommand.line(vpn) == "via cellular: tun0, vpn over cellular, IPv4 IPv6\n")
        #expect(PathCommand.line(PathState(.notReachable)) == "not reachable\n")
        #expect(PathCommand.line(PathState(.unknown)) == "unknown\n")
    }

    @Test(arguments: [
        (["--bad"], "unknown option --bad"), (["a", "b"], "one host"), ([""], "one host"),
        (["--count", "2"], "--watch"),
        (["--watch", "--count", "0"], "from 1"), (["--watch", "--count"], "needs a value"),
        (["http://h/"], "invalid host"), ([String(repeating: "a", count: 256)], "invalid host"),
    ])
    func invalidInputPrintsOneLine(words: [String], says: String) async throws {
        let outcome = try await nk(["path"] + words)
        #expect(outcome.code == 2 && outcome.text == "")
        #expect(outcome.errors.contains(says) && outcome.errors.split(separator: "\n").count == 1)
    }

    @Test func helpIsShown() async throws {
        #expect(try await nk("path", "--help").text.hasPrefix("Usage: nk path"))
    }
}
