import NetKit
import Testing

@testable import NetKitCLI

/// The report of `nk run`, at any width.
@Suite(.timeLimit(.minutes(5)))
struct RunReportTests {
    private func entry(
        _ name: String, _ state: StepHistory.Entry.State, _ began: Int?, _ ended: Int?
    ) -> StepHistory.Entry {
        StepHistory.Entry(
            name: name, state: state, began: began.map { .milliseconds($0) }, ended: ended.map { .milliseconds($0) })
    }

    private func response(_ status: Int, _ count: Int, milliseconds: [Int]) -> Response<Bytes> {
        var hop = HopMetrics()
        let moments = milliseconds.map { Duration.milliseconds($0) }
        (hop.started, hop.ready, hop.firstByte, hop.ended) = (moments[0], moments[1], moments[2], moments[3])
        return Response(status: status, bytes: Bytes(Array(repeating: 1, count: count)), metrics: Metrics([hop]))
    }

    private var report: RunReport {
        let bad = NetError(
            .status, "status 503 from http://host/a/rather/long/path/that/goes/on/and/on/and/on/for/ever",
            response: response(503, 12, milliseconds: [0, 0, 20, 20]))
        return RunReport(
            [
                entry("login", .answered(response(200, 4_000, milliseconds: [10, 20, 60, 80])), 100, 180),
                entry("a step with a rather long name", .failed(bad), 180, 200),
                entry("other", .failed(NetError(.cancelled, "the task was cancelled")), 180, 200),
                entry("last\u{1b}[2J", .unsent, nil, nil),
            ], kind: .chain, exitCode: 22)
    }

    @Test func aTableAndAWaterfallFillEightyColumns() {
        #expect(
            report.lines(width: 80, hasColours: false) == [
                "step                        status        size         time",
                "login                       200        3.9 KiB     80.00 ms",
                "a step with ..er long name  503           12 B     20.00 ms",
                "  status 503 from",
                "  http://host/a/rather/long/path/that/goes/on/and/on/and/on/for/ever",
                "other                       cancelled        -     20.00 ms",
                "  cancelled because step 2 failed",
                "last?[2J                    unsent           -            -",
                "",
                "login                       .....-----=====================##########",
                "a step with ..er long name                                           ===========",
                "other                                                                ===========",
                "last?[2J",
                "                            0                                          100.00 ms",
                ". queued  - connecting  = waiting  # receiving",
            ])
    }

    @Test(arguments: [1, 8, 20, 39, 40, 41, 60, 80, 81, 200])
    func noLineIsLongerThanTheTerminalIsWide(width: Int) {
        let lines = report.lines(width: width, hasColours: false)
        #expect(lines.count >= 7)
        if width >= 40 {
            #expect(lines.allSatisfy { Format.columns(of: $0) <= width })
            #expect(lines.contains { $0.contains("#") })
        }
    }

    @Test func onlyTheStatusIsColoured() {
        let plain = report.lines(width: 80, hasColours: false)
        let coloured = report.lines(width: 80, hasColours: true)
        #expect(coloured[1].contains("\u{1b}[32m200      \u{1b}[0m"))
        #expect(coloured[2].contains("\u{1b}[31m503      \u{1b}[0m"))
        #expect(coloured[7].contains("\u{1b}[2munsent   \u{1b}[0m"))
        let bare = coloured.map { line in
            ["\u{1b}[32m", "\u{1b}[31m", "\u{1b}[2m", "\u{1b}[0m"].reduce(line) { $0.replacing($1, with: "") }
        }
        #expect(bare == plain)
        #expect(!plain.joined().contains("\u{1b}"))
    }

    @Test func emptyReportHasNoTable() {
        let report = RunReport([], kind: .batch, exitCode: 0)
        #expect(report.lines(width: 80, hasColours: true) == ["no steps to send"])
        #expect(report.json == #"{"kind":"batch","ok":true,"exit_code":0,"total_ms":0.0,"steps":[]}"#)
    }

    @Test func jsonReportIsOneObject() throws {
        let value = try JSONValue(parsing: report.json)
        #expect(value["ok"]?.bool == false)
        #expect(value["exit_code"]?.int == 22)
        #expect(value["total_ms"]?.double == 100)
        let steps = try #require(value["steps"]?.array)
        #expect(steps.map { $0["state"]?.string } == ["answered", "failed", "cancelled", "unsent"])
        #expect(steps[0]["status"]?.int == 200)
        #expect(steps[0]["bytes"]?.int == 4_000)
        #expect(steps[0]["begin_ms"]?.double == 0)
        #expect(steps[1]["error"]?["code"]?.string == "status")
        #expect(steps[3]["begin_ms"] == nil)
        #expect(!report.json.contains("\n"))
    }
}
