import FoundationEssentials
import NetKit
import Testing

@testable import NetKitCLI

/// The waterfall of --timing-svg.
@Suite(.timeLimit(.minutes(5)))
struct TimingChartTests {
    @Test func eachPhaseIsABarOnTheScaleOfTheWhole() {
        var hop = HopMetrics()
        hop.url = "http://a.test/?x=<&>"
        hop.status = 200
        (hop.started, hop.resolved, hop.connected) = (.milliseconds(0), .milliseconds(10), .milliseconds(20))
        (hop.firstByte, hop.ended) = (.milliseconds(60), .milliseconds(80))
        let picture = TimingPicture.text(of: [Metrics([hop])])
        #expect(picture.contains("http://a.test/?x=&lt;&amp;&gt;"))
        // 696 columns, from 248 on. An eighth of the total is 87.
        #expect(picture.contains(#"<rect x="248.00" y="45.00" width="1.50""#))
        #expect(picture.contains(#"<rect x="248.00" y="65.00" width="87.00""#))
        #expect(picture.contains(#"<rect x="335.00" y="85.00" width="87.00""#))
        #expect(picture.contains(#"<rect x="422.00" y="105.00" width="348.00""#))
        #expect(picture.contains(#"<rect x="770.00" y="125.00" width="174.00""#))
        #expect(picture.contains("<title>first byte: 40.00 ms</title>"))
    }

    @Test func longURLDoesNotOverlapItsNeighbours() throws {
        var hop = HopMetrics()
        hop.url = "http://a.test/" + String(repeating: "a", count: 400) + "/end"
        (hop.status, hop.httpVersion, hop.ended) = (200, .http1_1, .milliseconds(1))
        (hop.tlsVersion, hop.isReused) = ("TLSv1.3", true)
        let lines = TimingPicture.text(of: [Metrics([hop])]).split(separator: "\n")
        let line = try #require(lines.first { $0.contains("http://a.test") })
        let title = try #require(
            line.split(separator: "<").first { $0.contains("http://a.test") }?.split(separator: ">").last)
        let facts = "HTTP/1.1, TLSv1.3, connection reused"
        #expect(line.contains(facts) && title.hasSuffix("a/end") && title.contains(".."))
        #expect(title.count * 8 + facts.count * 7 < 928)
    }

    @Test func unsentRequestIsLabelled() {
        #expect(TimingPicture.text(of: []).contains("nothing was sent"))
        #expect(TimingPicture.text(of: [Metrics()]).contains("nothing was sent"))
    }

    @Test func realTransferIsDrawnIntoAFile() async throws {
        let server = try LoopbackServer()
        server.script("/old", .redirect(to: "/new"))
        server.script("/new", .text("body"))
        let folder = try TemporaryFolder()
        let path = folder.file("picture.svg")
        let outcome = try await nk("--timing-svg", path, "-L", "-s", server.url("/old"), server.url("/missing"))
        #expect(outcome.text == "body" && outcome.code == 0)
        let picture = String(decoding: try #require(folder.contents(of: "picture.svg")), as: UTF8.self)
        #expect(picture.hasPrefix("<svg ") && picture.hasSuffix("</svg>\n"))
        #expect(picture.contains("302") && picture.contains("connection reused") && picture.contains("404"))
        #expect(try await nk("--timing-svg", "/nothing/here", "-s", server.url("/new")).code == 23)
    }
}
