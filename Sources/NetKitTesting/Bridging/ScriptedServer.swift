internal import CNetTesting
internal import Dispatch
import NetKit

/// The C server of CNetTesting. It listens on a port of the loopback interface, with a thread of its own.
@safe final class ScriptedServer: Sendable {
    // SAFETY: nettesting/server.h: all functions that are called here are thread-safe. stop is called once, in deinit.
    private nonisolated(unsafe) let raw: OpaquePointer

    init(isSecure: Bool, host: String) throws(NetError) {
        var created: OpaquePointer?
        let status = unsafe host.withCString { host in
            var options = unsafe nct_server_options()
            unsafe options.identity = isSecure ? .NCT_TLS_VALID : .NCT_PLAIN
            unsafe options.host = host
            return unsafe nct_server_start(&created, &options)
        }
        guard status == 0, let created = unsafe created else {
            throw NetError(.descriptors, "the mock server could not be started", nativeCode: Int(status))
        }
        unsafe raw = created
    }

    deinit {
        unsafe nct_server_stop(raw)
    }

    var port: UInt16 { unsafe nct_server_port(raw) }

    /// The certificate of the server's authority as PEM text. Empty for a server without TLS.
    var authority: String { unsafe String(cString: nct_server_ca_pem(raw)) }

    var requestCount: Int { unsafe nct_server_request_count(raw) }

    var connectionCount: Int { unsafe nct_server_connection_count(raw) }

    /// Returns the exact bytes of a request, at most the first 64 KiB.
    func receivedBytes(_ index: Int) -> [UInt8] {
        let length = unsafe nct_server_copy_request(raw, index, nil, 0)
        // The capacity is at least 1. With 0, the array would use the shared empty storage, and the initializer would
        // write to it.
        return unsafe [UInt8](unsafeUninitializedCapacity: max(1, length)) { buffer, count in
            count = unsafe min(length, nct_server_copy_request(raw, index, buffer.baseAddress, length), 64 << 10)
        }
    }

    func forget() {
        unsafe nct_server_forget(raw)
    }

    /// Waits until the server has received this number of requests, on a separate thread.
    func waitForRequests(_ count: Int, _ milliseconds: UInt32) async -> Bool {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "netkit.mock").async { [self] in
                continuation.resume(
                    returning: unsafe nct_server_wait_for_requests(raw, count, milliseconds))
            }
        }
    }

    /// Sets the successive replies for a path. There must be at least one. The server copies them.
    func script(_ path: String, _ replies: [MockReply]) throws(NetError) {
        let status = unsafe Self.describe(replies[...], converted: []) { described, count in
            unsafe nct_server_script_sequence(raw, path, described, count)
        }
        if status != 0 {
            throw NetError(.noMemory, "the mock server could not take the reply", nativeCode: Int(status))
        }
    }

    private static func describe(
        _ remaining: ArraySlice<MockReply>, converted: [nct_reply], _ use: (UnsafePointer<nct_reply>, Int) -> Int32
    ) -> Int32 {
        guard let reply = remaining.first else {
            return unsafe converted.withUnsafeBufferPointer { buffer in
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
                    return unsafe withSteps(reply.socketSteps ?? []) { steps, count in
                        unsafe described.socket_steps = reply.socketSteps == nil ? nil : steps
                        unsafe described.socket_step_count = count
                        return unsafe describe(remaining.dropFirst(), converted: converted + [described], use)
                    }
                }
            }
        }
    }

    /// Calls `body` with the steps of a WebSocket, which are valid during the call.
    private static func withSteps<Result>(
        _ steps: [MockSocketStep], _ body: (UnsafePointer<nct_socket_step>?, Int) -> Result
    ) -> Result {
        let content = steps.flatMap(\.bytes) + [0]  // Not empty, so that it has an address.
        return unsafe content.withUnsafeBytes { content in
            var offset = 0
            var converted: [nct_socket_step] = unsafe []
            for step in steps {
                let bytes = unsafe content.baseAddress.map { unsafe $0 + offset }
                unsafe converted.append(
                    nct_socket_step(
                        action: step.action.cValue, code: step.code, bytes: bytes, length: step.bytes.count))
                offset += step.bytes.count
            }
            unsafe converted.append(nct_socket_step())
            return unsafe converted.withUnsafeBufferPointer { unsafe body($0.baseAddress, steps.count) }
        }
    }

    /// Calls `body` with the NUL-terminated bytes, which are valid during the call.
    private static func withLines<Result>(_ lines: [UInt8], _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        unsafe (lines + [0]).withUnsafeBytes { unsafe body($0.baseAddress?.assumingMemoryBound(to: CChar.self)) }
    }
}

extension MockSocketStep.Action {
    fileprivate var cValue: nct_socket_action {
        switch self {
        case .text: .NCT_SOCKET_TEXT
        case .binary: .NCT_SOCKET_BINARY
        case .receive: .NCT_SOCKET_WAIT
        case .echo: .NCT_SOCKET_ECHO
        case .close: .NCT_SOCKET_CLOSE
        case .end: .NCT_SOCKET_END
        case .stall: .NCT_SOCKET_STALL
        }
    }
}
