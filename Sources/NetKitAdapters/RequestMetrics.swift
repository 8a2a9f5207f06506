#if SwiftMetrics
internal import Metrics
public import NetKit

/// Counts calls and their time with swift-metrics: `netkit_calls` by method and outcome (a status, or an error's name),
/// `netkit_call_duration` by method, `netkit_retries`.
///
/// URLs are no dimension: there are too many of them.
public struct RequestMetrics: Observer {
    private let prefix: String

    /// - Parameter prefix: what the labels begin with.
    public init(prefix: String = "netkit") {
        self.prefix = prefix
    }

    /// Counts what has ended.
    public func observe(_ event: Event) {
        let method = ("method", event.request.method.rawValue)
        switch event.change {
        case .waiting(_, .retry):
            Counter(label: "\(prefix)_retries", dimensions: [method]).increment()
        case .stopping(let outcome):
            Counter(label: "\(prefix)_calls", dimensions: [method, ("outcome", Self.name(of: outcome))]).increment()
            let (seconds, attoseconds) = event.elapsed.components
            Timer(label: "\(prefix)_call_duration", dimensions: [method])
                .recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
        default: break
        }
    }

    private static func name(of outcome: Event.Outcome) -> String {
        switch outcome {
        case .answered(let response): "\(response.status)"
        case .failed(let error): "\(error.code)"
        }
    }
}
#endif
