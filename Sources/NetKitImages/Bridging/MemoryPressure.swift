internal import CNetImages
public import NetKit

/// Reports when the system is short of memory, by Linux's pressure stall information (without privileges since Linux
/// 6.5). Reports end when it is deallocated. Thread-safe.
@safe public final class MemoryPressure: Sendable {
    // SAFETY: stopped once, in deinit; netimages.h allows this on any thread, including the watch's own.
    private nonisolated(unsafe) let raw: OpaquePointer

    /// Starts monitoring.
    ///
    /// Throws `NetError.Code.unsupported` if the system does not provide the information.
    /// - Parameters:
    ///   - path: the pressure file. If `nil`, /proc/pressure/memory. For a control group, its `memory.pressure`.
    ///   - stall: how long tasks must have waited for memory within two seconds, from 1 ms to 2 s.
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

    /// Monitors a descriptor that signals POLLPRI. It is closed at the end, or if this throws.
    package init(takingOwnershipOf descriptor: Int32, onPressure: @escaping @Sendable () -> Void) throws(NetError) {
        let listener = unsafe Unmanaged.passRetained(Listener(onPressure))
        var raw: OpaquePointer?
        var error = nc_image_error()
        let status = unsafe nc_pressure_start(&raw, descriptor, tell, end, listener.toOpaque(), &error)
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

/// Kept by the watch's thread until the thread ends.
private final class Listener: Sendable {
    let onPressure: @Sendable () -> Void

    init(_ onPressure: @escaping @Sendable () -> Void) {
        self.onPressure = onPressure
    }
}

private func tell(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<Listener>.fromOpaque(context).takeUnretainedValue().onPressure()
}

private func end(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<Listener>.fromOpaque(context).release()
}
