import NetKit

/// Records the events of calls, except the details of each transfer.
struct Watcher: Observer {
    let events: Collected<Event>

    func observe(_ event: Event) {
        if !event.isDetail {
            events.append(event)
        }
    }
}

extension Event {
    /// Whether the event is a detail of a transfer.
    var isDetail: Bool {
        switch change {
        case .suspended, .resumed, .headReceived, .redirected, .headDecided, .challenged, .bodyRenewed, .storing,
            .metricsCollected:
            true
        default: false
        }
    }

    /// The event in a few words.
    var story: String {
        switch change {
        case .started: "started"
        case .exchangeStarted(let number): "exchange \(number)"
        case .exchangeEnded(_, .answered(let response)): "answered \(response.status)"
        case .exchangeEnded(_, .failed(let error)): "failed \(error.code)"
        case .waiting(let time, let reason): "\(reason) \(time)"
        case .credentialsRefused(let reason): "refused \(reason)"
        case .cacheReported(let report): "cache \(report.decision)"
        case .notStored(let error): "not stored \(error.code)"
        case .stopping(.answered(let response)): "stopping \(response.status)"
        case .stopping(.failed(let error)): "stopping \(error.code)"
        case .stopped: "stopped"
        case .suspended: "suspended"
        case .resumed: "resumed"
        case .headReceived(let head): "head \(head.status)"
        case .downloadResumed(let offset, _): "resumed at \(offset)"
        case .redirected(let head, _): "redirected \(head.status)"
        case .headDecided(let decision): "decided \(decision)"
        case .challenged(let challenge, _): "challenged \(challenge.scheme)"
        case .bodyRenewed(let number): "body \(number)"
        case .storing(let answer): "storing \(answer.status)"
        case .metricsCollected(let metrics): "metrics \(metrics.count)"
        }
    }
}
