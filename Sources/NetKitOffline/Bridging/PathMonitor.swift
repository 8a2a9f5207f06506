internal import CNetCore
internal import Dispatch
internal import NetKit

/// Monitors the route to the internet, or to one host, with the C core.
@safe final class PathMonitor: PathSource {
    /// A monitor of the C core, which is released with this object.
    @safe private final class MonitorHandle: Sendable {
        // SAFETY: include/netcore/path.h: a monitor is thread-safe and stays valid until it is released, which happens
        // once, in deinit.
        nonisolated(unsafe) let raw: OpaquePointer

        init(takingOwnershipOf raw: OpaquePointer) {
            unsafe self.raw = raw
        }

        deinit {
            unsafe nc_path_release(raw)
        }
    }

    private let host: String
    private let monitorHandle = Lock<MonitorHandle?>(nil)
    private let startFailure = Lock<NetError?>(nil)

    /// - Parameter host: the host to monitor. If empty, the route to the internet is monitored.
    init(host: String) {
        self.host = host
    }

    /// The reason why the system reports no state; `nil` if it does.
    var failure: NetError? { startFailure.withLock { $0 } }

    func start(_ report: @escaping @Sendable (PathState) -> Void) {
        do throws(NetError) {
            let sink = PathSink(report)
            let created = try open(sink)
            monitorHandle.withLock { $0 = created }
            // The monitor's thread has started and reports the first state immediately, so this wait is short.
            sink.waitForFirst()
        } catch {
            startFailure.withLock { $0 = error }
            report(PathState(.unknown))
        }
    }

    private func open(_ sink: PathSink) throws(NetError) -> MonitorHandle {
        var error = nc_error()
        var created: OpaquePointer?
        let retained = unsafe Unmanaged.passRetained(sink)
        let status = unsafe host.withSlice { host in
            var options = unsafe nc_path_options()
            unsafe options.host = host
            unsafe options.ctx = retained.toOpaque()
            unsafe options.on_change = pathChanged
            unsafe options.on_end = pathEnded
            return unsafe nc_path_new(&created, &options, &error)
        }
        guard status == .NC_OK, let created = unsafe created else {
            unsafe retained.release()
            throw NetError(error)
        }
        return unsafe MonitorHandle(takingOwnershipOf: created)
    }

    func stop() {
        let released = monitorHandle.withLock { monitorHandle in
            defer { monitorHandle = nil }
            return monitorHandle
        }
        // The handle is released outside the lock, because that calls the core.
        withExtendedLifetime(released) {}
    }

    /// Returns the current state of the path to a host. It runs on a separate thread, because the system's resolver may
    /// take long.
    func state(of host: String) async -> PathState {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "netkit.path").async {
                continuation.resume(returning: Self.lookUp(host))
            }
        }
    }

    private static func lookUp(_ host: String) -> PathState {
        var error = nc_error()
        var state = nc_path_state()
        let status = unsafe host.withSlice { unsafe nc_path_lookup(&state, $0, &error) }
        return status == .NC_OK ? PathState(state) : PathState(.unknown)
    }
}

/// Receives the reports of the core's monitor thread. The core references it until the last report.
private final class PathSink: Sendable {
    private let report: @Sendable (PathState) -> Void
    private let first = DispatchSemaphore(value: 0)

    init(_ report: @escaping @Sendable (PathState) -> Void) {
        self.report = report
    }

    func changed(_ state: PathState) {
        report(state)
        first.signal()
    }

    func waitForFirst() {
        first.wait()
    }
}

extension PathState {
    fileprivate init(_ state: nc_path_state) {
        let status: Status =
            switch state.status {
            case .NC_PATH_NOT_REACHABLE: .notReachable
            case .NC_PATH_VIA_CELLULAR: .viaCellular
            case .NC_PATH_VIA_WIFI_OR_WIRED: .viaWiFiOrWired
            default: .unknown
            }
        let name = unsafe withUnsafeBytes(of: state.interface_name) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        self.init(
            status, kind: Kind(state.kind), carrier: Kind(state.carrier), interface: name, hasIPv4: state.has_ipv4,
            hasIPv6: state.has_ipv6)
    }
}

extension PathState.Kind {
    fileprivate init(_ kind: nc_path_kind) {
        self = Self(rawValue: unsafe String(cString: nc_path_kind_name(kind))) ?? .other
    }
}

private func pathChanged(_ context: UnsafeMutableRawPointer?, _ state: UnsafePointer<nc_path_state>) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<PathSink>.fromOpaque(context).takeUnretainedValue().changed(PathState(state.pointee))
}

private func pathEnded(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<PathSink>.fromOpaque(context).release()
}
