internal import CNetCore

/// A snapshot of the cookies in an engine's jar.
@safe final class CookieSnapshot: JarCookies {
    // SAFETY: include/netcore/cookies.h: a snapshot never changes, is thread-safe and lives until its release in
    // deinit.
    private nonisolated(unsafe) let raw: OpaquePointer

    init(_ raw: OpaquePointer) {
        unsafe self.raw = raw
    }

    deinit {
        unsafe nc_cookie_snapshot_release(raw)
    }

    func shown(to hosts: Set<String>) throws(NetError) -> [[UInt8]] {
        var shown: Set<[UInt8]> = []
        for host in hosts {
            var buffer = unsafe nc_buf_init(16 << 20)
            defer { unsafe nc_buf_deinit(&buffer) }
            var error = nc_error()
            let status = unsafe host.withSlice { unsafe nc_cookie_snapshot_append(raw, $0, &buffer, &error) }
            if status != .NC_OK {
                throw NetError(error)
            }
            let bytes = unsafe nc_buf_slice(&buffer).withSpan { span in span.indices.map { span[$0] } }
            shown.formUnion(bytes.split(separator: UInt8(ascii: "\n")).map { Array($0) })
        }
        return shown.sorted { $0.lexicographicallyPrecedes($1) }
    }
}

extension Engine {
    /// Returns the current jar; cheap even for a full one.
    func snapshotCookies() throws(NetError) -> CookieSnapshot {
        var snapshot: OpaquePointer?
        var error = nc_error()
        let status = unsafe withRaw { unsafe nc_engine_snapshot_cookies($0, &snapshot, &error) }
        guard status == .NC_OK, let snapshot = unsafe snapshot else { throw NetError(error) }
        return unsafe CookieSnapshot(snapshot)
    }
}
