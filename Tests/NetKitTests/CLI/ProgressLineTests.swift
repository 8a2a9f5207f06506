import NetKit
import Testing

@testable import NetKitCLI

/// The text of a progress line.
struct ProgressLineTests {
    private static func line(name: String = "file.bin", _ done: Int, of total: Int?, rate: Int = 0, left: Int? = nil)
        -> ProgressLine
    {
        var line = ProgressLine(name: name)
        line.done = done
        line.total = total
        line.bytesPerSecond = rate
        line.timeLeft = left.map { .seconds($0) }
        return line
    }

    @Test func eightyColumnsShowEverything() {
        let line = Self.line(8_808_039, of: 20_971_520, rate: 1_258_291, left: 10)
        #expect(
            line.text(width: 78, nameWidth: 8)
                == "file.bin  [===========>                 ]   42%   8.4 MiB   1.2 MiB/s     0:10")
    }

    @Test func unknownLengthShowsNoPercentageAndNoEstimate() {
        let line = Self.line(64 << 10, of: nil, rate: 1000)
        #expect(
            line.text(width: 78, nameWidth: 8)
                == "file.bin  [ <=>                         ]        64.0 KiB    1000 B/s     -:--")
    }

    @Test func fortyColumnsShowNamePercentageRateAndTime() {
        let line = Self.line(name: "a-long-name.tar.gz", 50, of: 100, rate: 300 << 20, left: 3723)
        #expect(line.text(width: 38, nameWidth: 18) == "a-lo..ar.gz   50%   300 MiB/s  1:02:03")
    }

    @Test func fortyColumnsShowNameSizeAndRateOfAnUnknownLength() {
        let line = Self.line(64 << 10, of: nil, rate: 1000)
        #expect(line.text(width: 38, nameWidth: 8) == "file.bin        64.0 KiB    1000 B/s")
    }

    @Test(arguments: [0, 1, 3, 4, 7, 8, 11, 18, 20, 27, 29, 38, 39, 44, 50, 59, 60, 78, 118, 200])
    func noWidthIsExceeded(width: Int) {
        let names = ["", "a", "file.bin", String(repeating: "name", count: 40), String(repeating: "文件", count: 20)]
        for name in names {
            for (done, total) in [(0, nil), (1 << 62, nil), (0, 10), (10, 10), (Int.max, 1), (0, 0)] as [(Int, Int?)] {
                let line = Self.line(name: name, done, of: total, rate: .max, left: 1 << 40)
                #expect(Format.columns(of: line.text(width: width, nameWidth: Format.columns(of: name))) <= width)
                let end = ProgressLine.end(name: name, bytes: done, took: .seconds(1 << 40), width: width)
                #expect(Format.columns(of: end) <= width)
            }
        }
    }

    @Test func barGrowsWithTheFraction() {
        let filled = [0, 1, 50, 99, 100].map { share in
            Self.line(share, of: 100).text(width: 78, nameWidth: 8).filter { "=>".contains($0) }.count
        }
        #expect(filled == [0, 0, 14, 28, 29])
    }

    @Test func finalLineShowsTheTotal() {
        let end = ProgressLine.end(name: "file.bin", bytes: 20 << 20, took: .milliseconds(2500), width: 78)
        #expect(end == "file.bin  20.0 MiB in 2.5 s, 8.0 MiB/s")
        // A short name is shown where a long one does not fit.
        let ends = ["out/b", "out/a-long-name"].map { name in
            ProgressLine.end(name: name, bytes: 20_000, took: .milliseconds(1300), width: 37)
        }
        #expect(ends == ["out/b  19.5 KiB in 1.3 s, 15.0 KiB/s", "19.5 KiB in 1.3 s, 15.0 KiB/s"])
    }

    @Test func bothDirectionsAreAdded() {
        var progress = TransferProgress()
        progress.sent = 30
        progress.sendTotal = 40
        #expect(ProgressLine(name: "", progress).total == 40)
        progress.received = 10
        #expect(ProgressLine(name: "", progress).total == nil)
        progress.receiveTotal = 60
        let line = ProgressLine(name: "", progress)
        #expect(line.total == 100 && line.done == 40)
    }

    @Test(arguments: [
        (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (102_348, "99.9 KiB"), (102_400, "100 KiB"),
        (1_048_063, "1023 KiB"), (1_048_575, "1.0 MiB"), (5 << 30, "5.0 GiB"), (Int.max, "8.0 EiB"),
    ])
    func sizesAreAbbreviated(bytes: Int, text: String) {
        #expect(Format.size(bytes) == text)
    }

    @Test(arguments: [
        (0, "0:00"), (59, "0:59"), (61, "1:01"), (3599, "59:59"), (3600, "1:00:00"), (36_000, "10h"), (360_000, "4d"),
    ])
    func durationsAreAbbreviated(seconds: Int, text: String) {
        #expect(Format.clock(.seconds(seconds)) == text)
    }
}
