#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Records every transfer as an HTTP archive (HAR 1.2), which browser tools show as a waterfall.
///
///     let recorder = HARRecorder()
///     configuration.observers = [recorder]
///     …
///     let text = try recorder.archive()
///
/// Each hop of each attempt is a separate entry. Secrets are hidden by default. Cookies appear only as header fields.
/// The entries of redirects have no response fields, because the transport does not keep them. Thread-safe.
public final class HARRecorder: Observer {
    fileprivate struct Recorded: Sendable {
        let call: UInt64
        let number: Int
        let epochSeconds: Double
        let request: HARRecord.Request
        var outcome: HARRecord.Outcome?
    }

    private struct State: Sendable {
        // The transfers of calls that have not ended, by the number of the call.
        var open: [UInt64: [Recorded]] = [:]
        var ended: [Recorded] = []

        /// Adds a transfer. Its call may have ended already, if the transfer continues for other callers that share it.
        mutating func begin(_ transfer: Recorded, upTo count: Int) {
            if open[transfer.call]?.append(transfer) == nil {
                keep([transfer], upTo: count)
            }
        }

        mutating func end(_ number: Int, of call: UInt64, _ outcome: HARRecord.Outcome) {
            if let index = open[call]?.lastIndex(where: { $0.number == number }) {
                open[call]?[index].outcome = outcome
            } else if let index = ended.lastIndex(where: { $0.call == call && $0.number == number }) {
                ended[index].outcome = outcome
            }
        }

        mutating func keep(_ transfers: [Recorded], upTo count: Int) {
            ended += transfers
            if ended.count > count {
                ended.removeFirst(ended.count - count)
            }
        }
    }

    private let state = Lock(State())
    private let redaction: Redaction?
    private let maxBodyBytes: Int
    private let maxExchanges: Int
    private let time: TimeSource

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - redaction: hides secrets. If `nil`, secrets are recorded.
    ///   - maxBodyBytes: the size of the largest body to record, in bytes. Only bodies in memory are recorded. A body
    ///     that is neither a form nor JSON is recorded only if `redaction` is `nil`.
    ///   - maxExchanges: the largest number of recorded transfers. Further transfers replace the oldest ones.
    ///   - time: the source of time.
    public init(
        hiding redaction: Redaction? = Redaction(), maxBodyBytes: Int = 0, maxExchanges: Int = 10_000,
        time: TimeSource = .system
    ) {
        self.redaction = redaction
        self.maxBodyBytes = maxBodyBytes
        self.maxExchanges = max(1, maxExchanges)
        self.time = time
    }

    /// Records the event.
    public func observe(_ event: Event) {
        switch event.change {
        case .started: state.withLock { $0.open[event.callID] = [] }
        case .exchangeStarted(let number):
            let transfer = Recorded(
                call: event.callID, number: number, epochSeconds: time.epochSeconds(),
                request: HARRecord.Request(event.request, maxBodyBytes: maxBodyBytes))
            state.withLock { [maxExchanges] in $0.begin(transfer, upTo: maxExchanges) }
        case .exchangeEnded(let number, let outcome):
            let outcome = HARRecord.Outcome(outcome, maxBodyBytes: maxBodyBytes)
            state.withLock { $0.end(number, of: event.callID, outcome) }
        case .stopping(let outcome): end(event.callID, outcome)
        default: break
        }
    }

    private func end(_ call: UInt64, _ outcome: Event.Outcome) {
        state.withLock { [maxExchanges, maxBodyBytes] state in
            guard var transfers = state.open.removeValue(forKey: call) else { return }
            // The transfer of a stream was reported when its head arrived. This event adds the end of the body.
            if let last = transfers.indices.last, let head = transfers[last].outcome, head.isUnended {
                let end = HARRecord.Outcome(outcome, maxBodyBytes: maxBodyBytes)
                transfers[last].outcome = head.completed(by: end)
            }
            state.keep(transfers, upTo: maxExchanges)
        }
    }

    /// The number of recorded transfers.
    package var count: Int { state.withLock { $0.ended.count + $0.open.values.reduce(0) { $0 + $1.count } } }

    /// Returns the archive as JSON text. The entries are in the order in which their transfers began.
    public func archive() throws(NetError) -> Bytes {
        let transfers = state.withLock { $0.ended + $0.open.values.joined() }
        let entries = transfers.sorted { $0.epochSeconds < $1.epochSeconds }.flatMap(entries)
        let encoder = JSONEncoder()
        // Without sorted keys, JSONEncoder's output differs from process to process.
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            let creator = HAR.Creator(name: "NetKit", version: LibraryVersion.text)
            return Bytes(try encoder.encode(HAR(log: HAR.Log(creator: creator, entries: entries))))
        } catch {
            throw NetError(.encoding, "the HAR archive cannot be encoded as JSON: \(error)", underlying: error)
        }
    }

    // MARK: Entries

    private func entries(of transfer: Recorded) -> [HAR.Entry] {
        let response = transfer.outcome?.response
        var hops = transfer.outcome?.hops ?? []
        if hops.isEmpty {
            var hop = HopMetrics()
            hop.status = response?.status ?? 0
            hops = [hop]
        }
        var begin = Duration.zero
        var method = transfer.request.method
        return hops.indices.map { index in
            let hop = hops[index]
            let isLast = index == hops.count - 1
            let timings = HAR.Timings(hop, from: begin)
            let next = isLast ? "" : hops[index + 1].url
            let entry = HAR.Entry(
                startedDateTime: Self.date(transfer.epochSeconds + begin / .seconds(1)), time: timings.sum,
                request: request(transfer.request, method, hop, isFirst: index == 0),
                response: self.response(isLast ? response : nil, hop, next: next), timings: timings,
                serverIPAddress: hop.remoteAddress.isEmpty ? nil : hop.remoteAddress,
                connection: hop.connectionID.map(String.init), comment: isLast ? transfer.outcome?.failure : nil)
            begin = hop.ended ?? begin
            method = method.afterRedirect(hop.status)
            return entry
        }
    }

    private func request(
        _ request: HARRecord.Request, _ method: Method, _ hop: HopMetrics, isFirst: Bool
    ) -> HAR.Request {
        let url = hop.url.isEmpty ? request.url.withoutUserinfo : hop.url
        let keepsBody = isFirst || method == request.method
        let type = request.headers["Content-Type"] ?? request.contentType
        let text = keepsBody ? text(of: request.bytes, type) : nil
        return HAR.Request(
            method: method.rawValue, url: redacted(url), httpVersion: hop.httpVersion.description,
            headers: isFirst ? pairs(request.headers) : [], queryString: redacted(url).queryPairs.map(HAR.Pair.init),
            postData: text.map { HAR.PostData(mimeType: type ?? "", text: $0) },
            bodySize: keepsBody ? request.bodySize : 0)
    }

    private func response(_ response: HARRecord.Response?, _ hop: HopMetrics, next: String) -> HAR.Response {
        let type = response?.headers["Content-Type"]
        let saved = hop.decodedBytes - hop.receivedBytes
        return HAR.Response(
            status: hop.status, httpVersion: hop.httpVersion.description,
            headers: response.map { pairs($0.headers) } ?? [],
            content: HAR.Content(
                size: hop.decodedBytes, compression: saved > 0 ? saved : nil, mimeType: type ?? "",
                text: response.flatMap { text(of: $0.bytes, type ?? "unknown") }),
            redirectURL: redacted(next), headersSize: hop.headBytes > 0 ? hop.headBytes : -1,
            bodySize: hop.receivedBytes)
    }

    private func redacted(_ url: String) -> String { redaction?.hiding(url: url) ?? url }

    private func pairs(_ headers: Headers) -> [HAR.Pair] {
        (redaction?.hiding(headers) ?? headers).map { HAR.Pair($0) }
    }

    private func text(of bytes: Bytes, _ type: String?) -> String? {
        guard !bytes.isEmpty else { return nil }
        if let redaction {
            return redaction.hiding(body: bytes, contentType: type)
        }
        return String(validating: Array(bytes), as: UTF8.self)
    }

    private static func date(_ epochSeconds: Double) -> String {
        Date(timeIntervalSince1970: epochSeconds).formatted(
            Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
