import CNetTesting

/// A server on the loopback interface with scripted replies, for `nk demo`. It runs as long as this object exists.
@safe final class DemoServer: Sendable {
    // SAFETY: nettesting.h: scripting, waiting and counting are thread-safe, and stop is called once, in deinit.
    private nonisolated(unsafe) let raw: OpaquePointer

    /// Starts a server. Returns `nil` if the system cannot provide a socket or a thread.
    init?(isSecure: Bool = false) {
        var options = unsafe nct_server_options()
        unsafe options.identity = isSecure ? .NCT_TLS_VALID : .NCT_PLAIN
        var created: OpaquePointer?
        guard unsafe nct_server_start(&created, &options) == 0, let created = unsafe created else { return nil }
        unsafe raw = created
    }

    deinit {
        unsafe nct_server_stop(raw)
    }

    var port: UInt16 { unsafe nct_server_port(raw) }

    /// The certificate of the authority that issued the TLS server's certificate, in PEM.
    var authority: [UInt8] { Array(unsafe String(cString: nct_server_ca_pem(raw)).utf8) }

    /// Makes the server reply to `path` with JSON.
    func register(_ path: String, json: String) {
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

    /// Makes the server reply to `path` with the body of the request.
    func echo(_ path: String) {
        var reply = unsafe nct_reply()
        unsafe reply.is_echo = true
        unsafe script(path, &reply)
    }

    /// Makes the server redirect `path` to `location`.
    func redirect(_ path: String, to location: String) {
        unsafe location.withCString { location in
            var reply = unsafe nct_reply()
            unsafe reply.location = location
            unsafe script(path, &reply)
        }
    }

    /// Makes the server begin a reply to `path` that it never ends.
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
        // An error is ignored here, because the step that requests the path then gets a 404 and fails.
        _ = unsafe nct_server_script(raw, path, reply)
    }
}
