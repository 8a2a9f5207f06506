#if SwiftMetrics
internal import Metrics
public import NetKit

/// Counts calls and their duration with swift-metrics: `netkit_calls` by method and outcome (a status, or an error's
/// name), `netkit_call_duration` by method, and `netkit_retries`.
///
/// URLs are not a dimension, because there would be too many values.
public struct RequestMetrics: Observer {
    private let prefix: String

    /// - Parameter prefix: the prefix of the labels.
    public init(prefix: String = "netkit") {
        self.prefix = prefix
    }

    /// Counts the calls that have ended.
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
