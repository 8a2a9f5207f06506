#if Images
internal import CNetImages
public import NetKit

/// Reports when the system is short of memory. It uses Linux's pressure stall information, which needs no privileges
/// since Linux 6.5. The reports end when the object is deallocated. Thread-safe.
@safe public final class MemoryPressure: Sendable {
    // SAFETY: the monitor is stopped once, in deinit. netimages.h allows this on any thread, including the monitor's
    // own.
    private nonisolated(unsafe) let raw: OpaquePointer

    /// Starts monitoring.
    ///
    /// Throws `NetError.Code.unsupported` if the system does not provide the information.
    /// - Parameters:
    ///   - path: the pressure file, such as the `memory.pressure` file of a control group. If `nil`, it is
    ///     /proc/pressure/memory.
    ///   - stall: the time that tasks must have waited for memory within two seconds, from 1 ms to 2 s.
    ///   - onPressure: called on a separate thread, at most every two seconds.
    public convenience init(
        path: String? = nil, stall: Duration = .milliseconds(100), onPressure: @escaping @Sendable () -> Void
    ) throws(NetError) {
        var descriptor: Int32 = -1
        var error = nc_image_error()
        let limit = UInt32(max(0, min(stall / .milliseconds(1), 0x1p31)))
        let status =
            if let path {
                unsafe path.withCString { name in unsafe nc_pressure_open(&descriptor, name, limit, &error) }
            } else {
                unsafe nc_pressure_open(&descriptor, nil, limit, &error)
            }
        guard status == .NC_IMAGE_OK else { throw NetError(error) }
        try self.init(takingOwnershipOf: descriptor, onPressure: onPressure)
    }

    /// Starts monitoring a descriptor that signals memory pressure with POLLPRI. The descriptor is closed when
    /// monitoring ends, or if this throws.
    package init(takingOwnershipOf descriptor: Int32, onPressure: @escaping @Sendable () -> Void) throws(NetError) {
        let listener = unsafe Unmanaged.passRetained(Listener(onPressure))
        var raw: OpaquePointer?
        var error = nc_image_error()
        let status = unsafe nc_pressure_start(&raw, descriptor, reportPressure, end, listener.toOpaque(), &error)
        guard status == .NC_IMAGE_OK, let raw = unsafe raw else {
            unsafe listener.release()
            throw NetError(error)
        }
        unsafe self.raw = unsafe raw
    }

    deinit {
        unsafe nc_pressure_stop(raw)
    }
}

/// The closure that the monitor's thread calls. The thread references this object until it ends.
private final class Listener: Sendable {
    let onPressure: @Sendable () -> Void

    init(_ onPressure: @escaping @Sendable () -> Void) {
        self.onPressure = onPressure
    }
}

private func reportPressure(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<Listener>.fromOpaque(context).takeUnretainedValue().onPressure()
}

private func end(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<Listener>.fromOpaque(context).release()
}
#endif
