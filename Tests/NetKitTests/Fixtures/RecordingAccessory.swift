import Dispatch
import NetKit
import NetKitCompat

/// Returns "main" on the main queue, else "elsewhere". The main queue's thread need not be the process's first one.
func whereNow() -> String {
    DispatchQueue.getSpecific(key: mainMark) == true ? "main" : "elsewhere"
}

private let mainMark: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
}()

/// An accessory that records its notifications.
final class RecordingAccessory: Accessory {
    let name: String
    let log: Collected<String>
    let runs = Collected<NetKit.RequestTask>()

    init(_ name: String, _ log: Collected<String>) {
        self.name = name
        self.log = log
    }

    func willStart(_ run: NetKit.RequestTask) { record("will start", run) }
    func willStop(_ run: NetKit.RequestTask) { record("will stop", run) }
    func didStop(_ run: NetKit.RequestTask) { record("did stop", run) }

    private func record(_ what: String, _ run: NetKit.RequestTask) {
        runs.append(run)
        log.append("\(name) \(what) \(whereNow())")
    }
}

/// A delegate that records its notifications.
final class RecordingDelegate: RequestTaskDelegate {
    let log: Collected<String>
    let runs = Collected<NetKit.RequestTask>()
    let sent = Collected<TransferProgress>()
    let received = Collected<TransferProgress>()

    init(_ log: Collected<String>) {
        self.log = log
    }

    func run(_ run: NetKit.RequestTask, finishedWith value: any Sendable) {
        runs.append(run)
        let text = (value as? Response<String>).map { "\($0.value) " } ?? ""
        log.append("finished \(text)\(whereNow())")
    }

    func run(_ run: NetKit.RequestTask, failedWith error: NetError) {
        runs.append(run)
        log.append("failed \(error.code) \(whereNow())")
    }

    func run(_ run: NetKit.RequestTask, sent progress: TransferProgress) {
        sent.append(progress)
        log.append("sent \(whereNow())")
    }

    func run(_ run: NetKit.RequestTask, received progress: TransferProgress) {
        received.append(progress)
        log.append("received \(whereNow())")
    }

    func runCleared(_ run: NetKit.RequestTask) {
        runs.append(run)
        log.append("cleared \(whereNow())")
    }
}

/// An observer that records when a call begins and ends.
struct CallLog: Observer {
    let log: Collected<String>

    func observe(_ event: Event) {
        switch event.change {
        case .started: log.append("call started")
        case .stopping(.answered): log.append("call answered")
        case .stopping(.failed(let error)): log.append("call failed \(error.code)")
        default: break
        }
    }
}

/// Calls a closure when it is deallocated.
final class Token: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit {
        end()
    }
}
