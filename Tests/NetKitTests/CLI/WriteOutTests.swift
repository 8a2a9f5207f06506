import NetKit
import Testing

@testable import NetKitCLI

/// -w: text with variables.
@Suite(.timeLimit(.minutes(5)))
struct WriteOutTests {
    private static var transferReport: TransferReport {
        get throws {
            var first = HopMetrics()
            (first.started, first.resolved, first.connected) = (.milliseconds(1), .milliseconds(2), .milliseconds(5))
            (first.ready, first.firstByte, first.ended) = (.milliseconds(6), .milliseconds(20), .milliseconds(30))
            (first.connectionsOpened, first.headBytes, first.sentBytes) = (1, 100, 80)
            var second = HopMetrics()
            (second.url, second.status, second.httpVersion) = ("https://host.test/b", 200, .http2)
            (second.started, second.ready) = (.milliseconds(30), .milliseconds(31))
            (second.firstByte, second.ended) = (.milliseconds(40), .milliseconds(500))
            (second.remoteAddress, second.remotePort) = ("127.0.0.1", 8443)
            (second.tlsVersion, second.tlsCipher) = ("TLSv1.3", "TLS_AES_128_GCM_SHA256")
            second.tlsGroup = "X25519MLKEM768"
            (second.headBytes, second.sentBytes, second.receivedBytes) = (50, 90, 1000)
            var transferReport = TransferReport(
                Job(0, of: try Arguments.operations(parsing: ["https://me:hush@host.test/a", "-o", "f"])[0]))
            transferReport.status = 200
            transferReport.headers = ["Content-Type": "text/plain", "X-Name": "a\"b"]
            transferReport.metrics = Metrics([first, second])
            transferReport.sent.withLock { $0 = 20 }
            transferReport.fileName = "f"
            return transferReport
        }
    }

    private static func written(_ format: String) throws -> WriteOut.Written {
        WriteOut(format).written(for: try transferReport)
    }

    @Test(arguments: [
        ("%{http_code} %{response_code} %{HTTP_Code}", "200 200 200"), ("%{http_version}", "2"),
        ("%{url_effective}", "https://host.test/b"),
        ("%{url}", "https://host.test/a"), ("%{num_redirects} %{num_connects}", "1 1"), ("%{scheme}", "HTTPS"),
        ("%{remote_ip}:%{remote_port}", "127.0.0.1:8443"), ("%{content_type}", "text/plain"),
        ("%{filename_effective}", "f"), ("%{header{x-name}}|%header{X-NAME}|%header{none}", "a\"b|a\"b|"),
        ("%{size_download} %{size_upload} %{size_header} %{size_request}", "1000 20 150 170"),
        ("%{speed_download} %{speed_upload}", "2000 40"), ("%{time_total} %{time_redirect}", "0.500000 0.030000"),
        ("%{time_namelookup} %{time_connect} %{time_appconnect}", "0.002000 0.005000 0.000000"),
        ("%{time_pretransfer} %{time_starttransfer}", "0.007000 0.030000"), ("%{exitcode}%{errormsg}", "0"),
        ("%{tls_version} %{tls_cipher} %{tls_group}", "TLSv1.3 TLS_AES_128_GCM_SHA256 X25519MLKEM768"),
        ("a\\nb\\tc\\rd\\\\e\\q", "a\nb\tc\rd\\\\e\\q"), ("100%% %x %{", "100% %x %{"), ("%{none}!", "!"), ("", ""),
        // A combining accent after a variable is ordinary text.
        ("%{http_code}\u{301}%{header{X-None}}\u{301}%header{none}\u{301}", "200\u{301}\u{301}\u{301}"),
        ("%%\u{301}%\u{301}\\\u{301}n", "%\u{301}%\u{301}\\\u{301}n"), ("%{\u{301}}!", "!"),
    ])
    func variablesHaveCurlsMeaning(format: String, text: String) throws {
        #expect(try Self.written(format).output == text)
    }

    @Test func formatCanWriteToStandardError() throws {
        let written = try Self.written("a%{stderr}b%{http_code}%{stdout}c")
        #expect(written.output == "ac" && written.errors == "b200")
    }

    @Test func unknownVariablesAreNamed() {
        let format = "%{none}%{http_code}%{json}%{stderr}%header{x}%{header_json}%{onerror}%{other}"
        #expect(WriteOut(format).unknown == ["none", "other"])
    }

    @Test func jsonHoldsEveryVariable() throws {
        let json = try Self.written("%{json}").output
        #expect(json.hasPrefix("{\"content_type\":\"text/plain\",\"errormsg\":null,\"exitcode\":0,"))
        #expect(json.contains("\"http_code\":200,") && json.contains("\"time_total\":0.500000,"))
        #expect(json.hasSuffix("}") && json.contains("\"curl_version\":\"nk/"))
        for name in WriteOut.variables.keys {
            #expect(json.contains("\"\(name)\":"))
        }
    }

    @Test func fieldsArePrintedAsJSON() async throws {
        let server = try LoopbackServer()
        server.script("/a", Reply(headers: ["X-A: 1", "X-B: \"q\"", "x-a: 2"], body: [1]))
        let json = try await nk("-o", "/dev/null", "-w", "%{header_json}", server.url("/a")).text
        #expect(json.hasPrefix("{\"") && json.hasSuffix("]\n}"))
        #expect(json.contains("\"x-a\":[\"1\",\"2\"],\n") && json.contains("\"x-b\":[\"\\\"q\\\"\"]"))
    }

    @Test(arguments: [([], "/end?q"), (["-L"], ""), (["-L", "--max-redirs", "0"], "/end?q")])
    func unfollowedRedirectIsReported(words: [String], target: String) async throws {
        let server = try LoopbackServer()
        server.script("/a/b", .redirect(to: "../end?q"))
        server.script("*", .text(""))
        let outcome = try await nk(words + ["-s", "-o", "/dev/null", "-w", "%{redirect_url}", server.url("/a/b")])
        #expect(outcome.text == (target.isEmpty ? "" : server.url(target)))
    }

    @Test func formatCanBeLimitedToFailures() async throws {
        let server = try LoopbackServer()
        server.script("/none", Reply(status: 404))
        server.script("*", .text(""))
        let format = "a%{onerror}%{exitcode}"
        #expect(try await nk("-w", format, server.url("/")).text == "a")
        #expect(try await nk("-f", "-w", format, server.url("/none")).text == "a22")
    }

    @Test func transferFillsTheVariables() async throws {
        let server = try LoopbackServer()
        server.script("/a", .redirect(to: "/b"))
        server.script("/b", .text("body"))
        let format = "\\n%{http_code} %{num_redirects} %{num_connects} %{size_download} %{remote_port} %{url_effective}"
        let outcome = try await nk("-L", "-w", format, server.url("/a"))
        #expect(outcome.text == "body\n200 1 1 4 \(server.port) \(server.url("/b"))")
        #expect(outcome.errors == "")
    }

    @Test(arguments: [(303 as UInt16, "PUT", "GET"), (302, "POST", "GET"), (302, "PUT", "PUT"), (307, "POST", "POST")])
    func methodVariableIsThatOfTheLastRequest(status: UInt16, requestMethod: String, last: String) async throws {
        let server = try LoopbackServer()
        server.script("/a", .redirect(to: "/b", status: status))
        server.script("/b", Reply())
        let words = ["-L", "-X", requestMethod, "-d", "x", "-w", "%{method}", server.url("/a")]
        #expect(try await nk(words).text == last)
        #expect(server.received(1).requestLine == "\(last) /b HTTP/1.1")
    }

    @Test func failureFillsTheVariables() async throws {
        let port = try ReservedPort(acceptsConnections: false).number
        let outcome = try await nk(
            "-s", "-w", "%{http_code} %{exitcode}%{stderr}%{errormsg}", "http://127.0.0.1:\(port)/")
        #expect(outcome.code == 7 && outcome.text == "000 7" && outcome.errors.contains("127.0.0.1:\(port)"))
    }

    @Test func formatCanBeReadFromAFile() async throws {
        let server = try LoopbackServer()
        server.script("/", .text("body"))
        let folder = try TemporaryFolder()
        try folder.write(Array("<%{http_code}>\n".utf8), to: "format")
        #expect(try await nk("-w", "@" + folder.file("format"), server.url("/")).text == "body<200>")
        #expect(try await nk("-w", "@-", server.url("/"), input: Array("in".utf8)).text == "bodyin")
        let missing = try await nk("-w", "@" + folder.file("none"), server.url("/"))
        #expect(missing.code == 26 && missing.errors.contains(folder.file("none")))
    }

    @Test func unknownVariableCausesAWarning() async throws {
        let server = try LoopbackServer()
        server.script("/", .text("body"))
        let outcome = try await nk("-w", "%{none}", server.url("/"))
        #expect(outcome.code == 0 && outcome.text == "body")
        #expect(outcome.errorLines == ["nk: warning: unknown -w variable 'none'"])
    }
}
