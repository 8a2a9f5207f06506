internal import CNetTesting
internal import Dispatch
import NetKit

/// The C server of CNetTesting: a thread that listens on a loopback port.
@safe final class ScriptedServer: Sendable {
    // SAFETY: nettesting/server.h: every function called here is thread-safe; stop is called once, in deinit.
    private nonisolated(unsafe) let raw: OpaquePointer

    init(isSecure: Bool, host: String) throws(NetError) {
        var made: OpaquePointer?
        let status = unsafe host.withCString { host in
            var options = unsafe nct_server_options()
            unsafe options.identity = isSecure ? .NCT_TLS_VALID : .NCT_PLAIN
            unsafe options.host = host
            return unsafe nct_server_start(&made, &options)
        }
        guard status == 0, let made = unsafe made else {
            throw NetError(.descriptors, "the mock server could not be started", nativeCode: Int(status))
        }
        unsafe raw = made
    }

    deinit {
        unsafe nct_server_stop(raw)
    }

    var port: UInt16 { unsafe nct_server_port(raw) }

    /// The authority's certificate as PEM text; empty for a server without TLS.
    var authority: String { unsafe String(cString: nct_server_ca_pem(raw)) }

    var requestCount: Int { unsafe nct_server_request_count(raw) }

    var connectionCount: Int { unsafe nct_server_connection_count(raw) }

    /// The exact bytes of a request, at most the first 64 KiB.
    func receivedBytes(_ index: Int) -> [UInt8] {
        let length = unsafe nct_server_copy_request(raw, index, nil, 0)
        // With a capacity of 0 the array would use the shared empty storage, which the initializer writes to.
        return unsafe [UInt8](unsafeUninitializedCapacity: max(1, length)) { buffer, count in
            count = unsafe min(length, nct_server_copy_request(raw, index, buffer.baseAddress, length), 64 << 10)
        }
    }

    func forget() {
        unsafe nct_server_forget(raw)
    }

    /// Waits on a separate thread.
    func waitForRequests(_ count: Int, _ milliseconds: UInt32) async -> Bool {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "netkit.mock").async { [self] in
                continuation.resume(
                    returning: unsafe nct_server_wait_for_requests(raw, count, milliseconds))
            }
        }
    }

    /// Sets successive replies, at least one. They are copied.
    func script(_ path: String, _ replies: [MockReply]) throws(NetError) {
        let status = unsafe Self.describe(replies[...], done: []) { described, count in
            unsafe nct_server_script_sequence(raw, path, described, count)
        }
        if status != 0 {
            throw NetError(.noMemory, "the mock server could not take the reply", nativeCode: Int(status))
        }
    }

    private static func describe(
        _ rest: ArraySlice<MockReply>, done: [nct_reply], _ use: (UnsafePointer<nct_reply>, Int) -> Int32
    ) -> Int32 {
        guard let reply = rest.first else {
            return unsafe done.withUnsafeBufferPointer { buffer in
                guard let first = buffer.baseAddress else { return 0 }
                return unsafe use(first, buffer.count)
            }
        }
        return unsafe withLines(reply.fields) { fields in
            unsafe withLines(reply.trailers) { trailers in
                unsafe reply.body.withUnsafeBytes { body in
                    var described = unsafe nct_reply()
                    unsafe described.status = UInt16(clamping: reply.status)
                    unsafe described.headers = fields
                    unsafe described.trailers = reply.trailers.isEmpty ? nil : trailers
                    unsafe described.chunk_bytes = reply.trailers.isEmpty ? 0 : max(1, body.count)
                    unsafe described.body = body.baseAddress
                    unsafe described.body_length = body.count
                    unsafe described.is_raw = reply.isWhole
                    unsafe described.is_cut = reply.isReset
                    unsafe described.cut_after = UInt64(body.count)
                    unsafe described.ending = reply.isReset ? .NCT_RESET : reply.isWhole ? .NCT_CLOSE : .NCT_KEEP
                    return unsafe describe(rest.dropFirst(), done: done + [described], use)
                }
            }
        }
    }

    /// Calls `body` with the NUL-terminated bytes, which are valid during the call.
    private static func withLines<Result>(_ lines: [UInt8], _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        unsafe (lines + [0]).withUnsafeBytes { unsafe body($0.baseAddress?.assumingMemoryBound(to: CChar.self)) }
    }
}
