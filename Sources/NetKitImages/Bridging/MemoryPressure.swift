internal import CNetImages
public import NetKit

/// Hears when the system runs short of memory: Linux's pressure stall information, without privileges (Linux 6.5 and
/// later). What is let go hears no more. Thread-safe.
@safe public final class MemoryPressure: Sendable {
    // SAFETY: stopped once, in deinit; netimages.h says that this is legal on any thread, the watch's own too.
    private nonisolated(unsafe) let raw: OpaquePointer

    /// Watches from now on.
    ///
    /// Throws `NetError.Code.unsupported` where the system does not tell.
    /// - Parameters:
    ///   - path: the file that tells; nil is /proc/pressure/memory, for a control group it is its `memory.pressure`.
    ///   - stall: how long tasks must have waited for memory within two seconds, from 1 ms to 2 s.
    ///   - onPressure: called on a thread of its own, at most every two seconds.
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

    /// Watches a descriptor that tells by POLLPRI; it is closed at the end, or when this throws.
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

/// What the watch's thread keeps until it ends.
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
