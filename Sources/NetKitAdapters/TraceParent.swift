public import NetKit

/// The position of a request in a trace (W3C Trace Context, level 1): its trace, its span, and whether it is recorded.
public struct TraceParent: Sendable, Hashable, CustomStringConvertible {
    /// The trace's identifier: 32 lower-case hex digits, not all of them 0.
    public let traceID: String
    /// The span's identifier: 16 lower-case hex digits, not all of them 0.
    public let spanID: String
    /// Whether the sender may have recorded the span.
    public let isSampled: Bool

    /// Creates the first span of a new trace.
    public init(isSampled: Bool = true) {
        self.init(traceID: Self.digits(32), isSampled: isSampled)
    }

    private init(traceID: String, isSampled: Bool) {
        self.traceID = traceID
        spanID = Self.digits(16)
        self.isSampled = isSampled
    }

    /// Parses the value of a `traceparent` field. Returns `nil` if it is invalid. Unknown parts of later versions are
    /// ignored.
    public init?(_ field: String) {
        var text = field.drop { $0 == " " || $0 == "\t" }
        while text.last == " " || text.last == "\t" {
            text.removeLast()
        }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 4, Self.isHex(parts[0], 2), parts[0] != "ff", parts[0] != "00" || parts.count == 4,
            Self.isHex(parts[1], 32), Self.isHex(parts[2], 16), Self.isHex(parts[3], 2),
            let flags = UInt8(parts[3], radix: 16), parts[1].contains(where: { $0 != "0" }),
            parts[2].contains(where: { $0 != "0" })
        else { return nil }
        traceID = parts[1]
        spanID = parts[2]
        isSampled = flags & 1 == 1
    }

    /// Returns a new span of the same trace.
    public func child() -> TraceParent {
        TraceParent(traceID: traceID, isSampled: isSampled)
    }

    /// The value of the `traceparent` field.
    public var description: String { "00-\(traceID)-\(spanID)-0\(isSampled ? 1 : 0)" }

    private static func isHex(_ text: String, _ count: Int) -> Bool {
        text.utf8.count == count && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }

    private static func digits(_ count: Int) -> String {
        var text = ""
        while !text.contains(where: { $0 != "0" }) {
            text = ""
            for _ in 0..<count {
                text.append(String(UInt8.random(in: 0...15), radix: 16))
            }
        }
        return text
    }
}

/// Adds a `traceparent` field to requests, so that servers can trace them.
///
/// If the request has a valid field already, it is not changed. Otherwise the request becomes a child span of the
/// current span, or the first span of a new trace. If the interceptor comes after ``NetKit/Retry``, each attempt is a
/// separate span. This interceptor needs no package trait. To trace with swift-distributed-tracing, use
/// `RequestTracing` instead.
public struct TracePropagation: OriginBoundInterceptor {
    private let parent: @Sendable () -> TraceParent?
    private let isSampled: Bool

    /// Creates the interceptor.
    ///
    /// - Parameters:
    ///   - isSampled: whether new traces are recorded.
    ///   - parent: returns the current span, for example from a task-local value. If it returns `nil`, a new trace
    ///     begins.
    public init(isSampled: Bool = true, parent: @escaping @Sendable () -> TraceParent? = { nil }) {
        self.isSampled = isSampled
        self.parent = parent
    }

    /// Adds the field and continues with the call.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        if call.request.headers["traceparent"].flatMap(TraceParent.init) != nil {
            return try await next(call)
        }
        var call = call
        if call.request.headers["traceparent"] != nil {
            // tracestate must not be sent without the traceparent field that it belongs to (3.3).
            call.request.headers["tracestate"] = nil
        }
        let span = parent()?.child() ?? TraceParent(isSampled: isSampled)
        call.request.headers["traceparent"] = span.description
        return try await next(call)
    }
}
