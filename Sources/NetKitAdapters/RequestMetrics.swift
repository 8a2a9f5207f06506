#if SwiftMetrics
internal import Metrics
public import NetKit

/// An observer that reports metrics of calls to swift-metrics:
/// - `netkit_calls`, a counter by method and outcome, which is a status or the name of an error
/// - `netkit_call_duration`, a timer by method
/// - `netkit_retries`, a counter by method
///
/// URLs are not a dimension, because they have too many different values.
public struct RequestMetrics: Observer {
    private let prefix: String

    /// Creates an observer.
    ///
    /// - Parameter prefix: the prefix of the metrics' names.
    public init(prefix: String = "netkit") {
        self.prefix = prefix
    }

    /// Reports the calls that have ended, and the retries.
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
