import NetKit
import Testing

@testable import NetKitCLI

/// The waterfall of --timing, as text.
@Suite(.timeLimit(.minutes(5)))
struct TimingTests {
    private static func hop(
        _ url: String, _ status: Int, milliseconds: [Int?], isReused: Bool = false, connection: Int? = 1
    ) -> HopMetrics {
        var hop = HopMetrics()
        let moments = milliseconds.map { $0.map { Duration.milliseconds($0) } }
        hop.url = url
        hop.status = status
        hop.httpVersion = .http1_1
        (hop.started, hop.resolved, hop.connected, hop.secured) = (moments[0], moments[1], moments[2], moments[3])
        (hop.ready, hop.firstByte, hop.ended) = (moments[3] ?? moments[2], moments[4], moments[5])
        hop.isReused = isReused
        hop.connectionID = connection
        return hop
    }

    @Test func eachPhaseOfEachHopIsPlacedOnTheTimeline() {
        var first = Self.hop("https://host.test/old", 302, milliseconds: [10, 20, 30, 50, 60, 60])
        first.tlsVersion = "TLSv1.3"
        let second = Self.hop(
            "https://host.test/new", 200, milliseconds: [60, nil, nil, nil, 80, 100], isReused: true)
        #expect(
            Timing.lines(of: Metrics([first, second]), width: 80) == [
                "1  302  https://host.test/old  HTTP/1.1, TLSv1.3, connection 1",
                "   queued          10.00 ms  =====",
                "   name lookup     10.00 ms       =====",
                "   connect         10.00 ms            =====",
                "   TLS             20.00 ms                 ==========",
                "   first byte      10.00 ms                           =====",
                "   last byte        0.00 ms                                |",
                "2  200  https://host.test/new  HTTP/1.1, connection 1 again",
                "   queued           0.00 ms                                |",
                "   first byte      20.00 ms                                ==========",
                "   last byte       20.00 ms                                          ==========",
                "   total          100.00 ms",
            ])
    }

    @Test func hopWithoutAResponseEndsAtItsLastPhase() {
        let hop = Self.hop("http://host.test/", 0, milliseconds: [1, 2, nil, nil, nil, 10], connection: nil)
        #expect(
            Timing.lines(of: Metrics([hop]), width: 60) == [
                "1  ---  http://host.test/  no connection",
                "   queued           1.00 ms  ===", "   name lookup      1.00 ms     ===",
                "   no response      8.00 ms        =========================",
                "   total           10.00 ms",
            ])
    }

    @Test func unsentRequestHasNoTimes() {
        #expect(Timing.lines(of: Metrics(), width: 80).isEmpty)
    }

    @Test(arguments: [10, 27, 35, 36, 39, 40, 60, 79, 80, 120])
    func noWidthIsExceeded(width: Int) {
        let url = "https://host.test/" + String(repeating: "long/", count: 40)
        let hops = [
            Self.hop(url, 302, milliseconds: [0, 5, 6, 7, 900_000, 900_000]),
            Self.hop(url, 200, milliseconds: [900_000, nil, nil, nil, 900_001, 3_600_000], isReused: true),
        ]
        #expect(Timing.lines(of: Metrics(hops), width: width).allSatisfy { $0.count <= width })
    }

    @Test func timesOfARealTransferArePrinted() async throws {
        let server = try LoopbackServer()
        server.script("/old", .redirect(to: "/new"))
        server.script("/new", .text("body"))
        let outcome = try await nk("--timing", "-L", server.url("/old"))
        #expect(outcome.text == "body")
        let titles = outcome.errorLines.filter { !$0.hasPrefix(" ") }
        #expect(
            titles == [
                "1  302  \(server.url("/old"))  HTTP/1.1, connection 1",
                "2  200  \(server.url("/new"))  HTTP/1.1, connection 1 again",
            ])
        let names = outcome.errorLines.filter { $0.hasPrefix("   ") }.map { $0.dropFirst(3).prefix(11) }
        #expect(
            names.map { String($0) } == [
                "queued     ", "name lookup", "connect    ", "first byte ", "last byte  ", "queued     ", "first byte ",
                "last byte  ", "total      ",
            ])
    }
}
