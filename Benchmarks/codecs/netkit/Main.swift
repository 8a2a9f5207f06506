// All of Foundation is imported here, because it is a peer.
import Foundation
import NetKit

/// Measures NetKit's encoders called from Swift, and Foundation's as peers. Prints the lines that ../rows.h describes.
@main
struct Main {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let round = Int(arguments[1]), let milliseconds = Int(arguments[2]) else {
            print("usage: bench-codecs ROUND MILLISECONDS")
            exit(2)
        }
        let rows = Rows(round: round, sampleNanoseconds: Double(milliseconds) * 1e6 / Double(Rows.samples))
        escapeOneValue(rows)
        encodeADictionary(rows)
        encodeAStruct(rows)
    }

    /// Escapes a text of 24 bytes, some of which need escapes.
    private static func escapeOneValue(_ rows: Rows) {
        let text = "caf\u{e9} & cr\u{e8}me: 50% now!"
        precondition(text.utf8.count == 24)
        let row = "swift-escape-24-B"
        rows.measure(row, "addingPercentEncoding") {
            text.addingPercentEncoding(withAllowedCharacters: .alphanumerics)?.utf8.count ?? 0
        }
        rows.measure(row, "netkit", aims: "ns:150,faster:1:addingPercentEncoding") {
            encoding.escape(text).utf8.count
        }
    }

    private static let encoding = QueryEncoding()

    /// Encodes a dictionary literal of eight keys to a complete query.
    private static func encodeADictionary(_ rows: Rows) {
        let row = "swift-8-keys"
        rows.measure(row, "URLComponents") {
            var components = URLComponents()
            components.queryItems = [
                "name": "bang", "city": "Z\u{fc}rich", "count": "10", "open": "1", "from": "2026-11-21", "sort": "name",
                "near": "47.37,8.54", "note": "a few words & more",
            ].sorted { $0.key < $1.key }.map { URLQueryItem(name: $0.key, value: $0.value) }
            return components.percentEncodedQuery?.utf8.count ?? 0
        }
        rows.measure(row, "netkit", aims: "ns:2000,faster:1:URLComponents") {
            let parameters: Parameters = [
                "name": "bang", "city": "Z\u{fc}rich", "count": 10, "open": true, "from": "2026-11-21", "sort": "name",
                "near": "47.37,8.54", "note": "a few words & more",
            ]
            return (try? encoding.query(parameters).utf8.count) ?? 0
        }
    }

    private struct Search: Encodable {
        var name = "bang"
        var city = "Z\u{fc}rich"
        var count = 10
        var open = true
        var from = "2026-11-21"
        var sort = "name"
        var near = 47.37
        var note = "a few words & more"
    }

    /// Encodes a struct with the same eight values.
    private static func encodeAStruct(_ rows: Rows) {
        let search = Search()
        rows.measure("swift-8-fields", "netkit") {
            (try? encoding.query(Parameters(encoding: search)).utf8.count) ?? 0
        }
    }
}

/// Measures like rows.c: the smallest of several samples, in CPU time of the thread.
private struct Rows {
    static let samples = 5
    let round: Int
    let sampleNanoseconds: Double

    func measure(_ row: String, _ peer: String, aims: String = "", _ work: () -> Int) {
        var times = 1
        while take(times, work) < sampleNanoseconds / 2 {
            times *= 2
        }
        var least = Double.infinity
        for _ in 0..<Self.samples {
            least = min(least, take(times, work) / Double(times))
        }
        print("row=\(row) round=\(round) name=\(peer) ns=\(least) rss_kib=0 aims=\(aims)")
    }

    private func take(_ times: Int, _ work: () -> Int) -> Double {
        let start = Self.now()
        var sum = 0
        for _ in 0..<times {
            sum &+= work()
        }
        precondition(sum > 0)
        return Self.now() - start
    }

    private static func now() -> Double {
        var now = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
        return Double(now.tv_sec) * 1e9 + Double(now.tv_nsec)
    }
}
