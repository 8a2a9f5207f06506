internal import CNetCore
internal import Dispatch

/// The system's state of the route to the internet, or to one host.
@safe final class PathMonitor: PathSource {
    /// A monitor of the core, released with this object.
    @safe private final class Grip: Sendable {
        // SAFETY: include/netcore/path.h: a monitor is thread-safe and stays valid until its one release, in deinit.
        nonisolated(unsafe) let raw: OpaquePointer

        init(takingOwnershipOf raw: OpaquePointer) {
            unsafe self.raw = raw
        }

        deinit {
            unsafe nc_path_release(raw)
        }
    }

    private let host: String
    private let grip = Lock<Grip?>(nil)
    private let problem = Lock<NetError?>(nil)

    /// - Parameter host: the host; empty stands for the internet.
    init(host: String) {
        self.host = host
    }

    /// The reason why the system reports nothing; `nil` if it does.
    var failure: NetError? { problem.withLock { $0 } }

    func start(_ tell: @escaping @Sendable (PathState) -> Void) {
        do throws(NetError) {
            let sink = PathSink(tell)
            let made = try open(sink)
            grip.withLock { $0 = made }
            // The thread has started, and reports the first state immediately.
            sink.waitForFirst()
        } catch {
            problem.withLock { $0 = error }
            tell(PathState(.unknown))
        }
    }

    private func open(_ sink: PathSink) throws(NetError) -> Grip {
        var error = nc_error()
        var made: OpaquePointer?
        let kept = unsafe Unmanaged.passRetained(sink)
        let status = unsafe host.withSlice { host in
            var options = unsafe nc_path_options()
            unsafe options.host = host
            unsafe options.ctx = kept.toOpaque()
            unsafe options.on_change = pathChanged
            unsafe options.on_end = pathEnded
            return unsafe nc_path_new(&made, &options, &error)
        }
        guard status == .NC_OK, let made = unsafe made else {
            unsafe kept.release()
            throw NetError(error)
        }
        return unsafe Grip(takingOwnershipOf: made)
    }

    func stop() {
        let released = grip.withLock { grip in
            defer { grip = nil }
            return grip
        }
        // Outside the lock: no call of the core while a lock is held.
        withExtendedLifetime(released) {}
    }

    /// Runs on a separate thread: the system's resolver may take long.
    func state(of host: String) async -> PathState {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "netkit.path").async {
                continuation.resume(returning: Self.look(host))
            }
        }
    }

    private static func look(_ host: String) -> PathState {
        var error = nc_error()
        var state = nc_path_state()
        let status = unsafe host.withSlice { unsafe nc_path_look(&state, $0, &error) }
        return status == .NC_OK ? PathState(state) : PathState(.unknown)
    }
}

/// The receiver of the core's thread; the core keeps it until its last report.
private final class PathSink: Sendable {
    private let tell: @Sendable (PathState) -> Void
    private let first = DispatchSemaphore(value: 0)

    init(_ tell: @escaping @Sendable (PathState) -> Void) {
        self.tell = tell
    }

    func changed(_ state: PathState) {
        tell(state)
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
