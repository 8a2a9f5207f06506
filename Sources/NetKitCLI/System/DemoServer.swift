import CNetTesting

/// The scripted loopback server. It runs as long as this object lives.
@safe final class DemoServer: Sendable {
    // SAFETY: nettesting.h: scripting, waiting and counting are thread-safe, and stop is called once, in deinit.
    private nonisolated(unsafe) let raw: OpaquePointer

    /// Returns `nil` if the system has no socket or thread left.
    init?(isSecure: Bool = false) {
        var options = unsafe nct_server_options()
        unsafe options.identity = isSecure ? .NCT_TLS_VALID : .NCT_PLAIN
        var made: OpaquePointer?
        guard unsafe nct_server_start(&made, &options) == 0, let made = unsafe made else { return nil }
        unsafe raw = made
    }

    deinit {
        unsafe nct_server_stop(raw)
    }

    var port: UInt16 { unsafe nct_server_port(raw) }

    /// The authority that signs the TLS server's certificate, in PEM.
    var authority: [UInt8] { Array(unsafe String(cString: nct_server_ca_pem(raw)).utf8) }

    /// Replies to `path` with JSON.
    func answer(_ path: String, json: String) {
        var json = json
        json.withUTF8 { body in
            unsafe "Content-Type: application/json\r\n".withCString { headers in
                var reply = unsafe nct_reply()
                unsafe reply.headers = headers
                unsafe reply.body = UnsafeRawPointer(body.baseAddress)
                unsafe reply.body_length = body.count
                unsafe script(path, &reply)
            }
        }
    }

    /// Replies to `path` with the request's own body.
    func echo(_ path: String) {
        var reply = unsafe nct_reply()
        unsafe reply.is_echo = true
        unsafe script(path, &reply)
    }

    /// Redirects `path` to `location`.
    func redirect(_ path: String, to location: String) {
        unsafe location.withCString { location in
            var reply = unsafe nct_reply()
            unsafe reply.location = location
            unsafe script(path, &reply)
        }
    }

    /// Begins a reply to `path` and never ends it.
    func stall(_ path: String) {
        var reply = unsafe nct_reply()
        unsafe reply.pattern_length = 1000
        unsafe reply.is_cut = true
        unsafe reply.cut_after = 100
        unsafe reply.ending = .NCT_STALL
        unsafe script(path, &reply)
    }

    /// Blocks until one reply is stalled. Returns false after ten seconds.
    func waitForStalled() -> Bool {
        unsafe nct_server_wait_for_stalled(raw, 1, 10_000)
    }

    private func script(_ path: String, _ reply: UnsafePointer<nct_reply>) {
        // If scripting fails, the step that requests the path gets a 404.
        _ = unsafe nct_server_script(raw, path, reply)
    }
}
