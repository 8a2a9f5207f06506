#if Redis
import CNetTesting
@preconcurrency import Glibc
import NetKit

/// A HTTP server that counts the requests for each path, on its own thread.
///
/// - `/limit` checks the limit at each request, by the clock that the Redis server uses too.
/// - `/missing/…` has a fresh response. `/expired/…` has a response that is stale from the start, and then a fresh one.
///   `/unchanged/…` has a stale response too, and then status 304.
final class Origin: @unchecked Sendable {
    /// The limit that the requests for `/limit` must keep.
    struct Bound {
        var start = 0.0
        var interval = 0.0
        var burst = 0.0
        var count = 0
        var above = 0
        /// The largest share of the allowed requests that had arrived at any moment.
        var share = 0.0

        mutating func add(_ now: Double) {
            count += 1
            // Half a request is the tolerance for rounding.
            let allowed = burst + (now - start) / interval + 0.5
            above += Double(count) > allowed ? 1 : 0
            // The first requests are the burst, which may be used completely.
            share = count > Int(2 * burst) ? max(share, Double(count) / allowed) : share
        }
    }

    private var server: OpaquePointer?
    private(set) var url = ""
    let bound = Guarded(Bound())
    private let counts = Guarded<[String: Int]>([:])

    init() throws {
        var options = nct_server_options()
        options.is_forgetful = true
        options.context = Unmanaged.passUnretained(self).toOpaque()
        options.choose = { context, choice in
            guard let context else { return }
            Unmanaged<Origin>.fromOpaque(context).takeUnretainedValue().choose(choice)
        }
        guard nct_server_start(&server, &options) == 0, let server else { throw Failure("the origin does not start") }
        url = "http://127.0.0.1:\(nct_server_port(server))"
    }

    deinit {
        nct_server_stop(server)
    }

    func count(of path: String) -> Int { counts.with { $0[path] ?? 0 } }

    private func choose(_ choice: OpaquePointer) {
        var length = 0
        let head = String(
            decoding: UnsafeRawBufferPointer(start: nct_choice_head(choice, &length), count: length), as: UTF8.self)
        let path = String(head.split(separator: " ").dropFirst().first ?? "")
        if path == "/limit" {
            bound.with { $0.add(Origin.now()) }
            return respond(choice, "", body: "")
        }
        let count = counts.with { counts in
            counts[path, default: 0] += 1
            return counts[path, default: 0]
        }
        let isStale = count == 1 && !path.hasPrefix("/missing")
        let isUnchanged = path.hasPrefix("/unchanged") && head.lowercased().contains("if-none-match: \"tag\"")
        respond(
            choice, "Cache-Control: max-age=3600\r\n\(isStale ? "Age: 4000\r\n" : "")ETag: \"tag\"\r\n",
            body: isUnchanged ? "" : Origin.body(path, count), status: isUnchanged ? 304 : 200,
            delay: isStale ? 0 : 150)
    }

    /// The body of the response to a request, counted from 1.
    static func body(_ path: String, _ count: Int) -> String { "\(path) version \(count)" }

    private func respond(
        _ choice: OpaquePointer, _ headers: String, body: String, status: UInt16 = 200, delay: UInt32 = 0
    ) {
        let bytes = Array(body.utf8)
        headers.withCString { headers in
            bytes.withUnsafeBytes { bytes in
                var reply = nct_reply()
                reply.status = status
                reply.headers = headers
                reply.body = bytes.baseAddress
                reply.body_length = bytes.count
                reply.delay_ms = delay
                _ = nct_choice_respond(choice, &reply)
            }
        }
    }

    /// The time in microseconds since 1970, as `TIME` of the Redis server returns it.
    static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }
}
#endif
