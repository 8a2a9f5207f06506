import CNetCore
import CNetTesting
import NetKit

/// The server of CNetTesting, with replies from a ``RequestHandler``. It runs as long as this object exists.
@safe final class ListeningServer: Sendable {
    fileprivate final class ServerContext: Sendable {
        let service: any RequestHandler

        init(_ service: any RequestHandler) {
            self.service = service
        }
    }

    private let serverContext: ServerContext
    // SAFETY: nettesting/server.h: stop is called once, in deinit, and joins the thread that calls the handler. This
    // object references the handler until then.
    private nonisolated(unsafe) let raw: OpaquePointer

    /// - Parameters:
    ///   - address: a numeric address.
    ///     - port: the port. If it is 0, the system chooses one.
    init(_ service: any RequestHandler, address: String, port: UInt16, isSecure: Bool = false) throws(SystemError) {
        let serverContext = ServerContext(service)
        var created: OpaquePointer?
        let number = unsafe address.withCString { address in
            var options = unsafe nct_server_options()
            unsafe options.identity = isSecure ? .NCT_TLS_VALID : .NCT_PLAIN
            unsafe options.host = address
            unsafe options.port = port
            unsafe options.choose = choose
            unsafe options.received = received
            unsafe options.replied = replied
            unsafe options.context = Unmanaged.passUnretained(serverContext).toOpaque()
            unsafe options.is_forgetful = true
            return unsafe nct_server_start(&created, &options)
        }
        guard number == 0, let created = unsafe created else { throw SystemError(number: number) }
        unsafe raw = created
        self.serverContext = serverContext
    }

    deinit {
        unsafe nct_server_stop(raw)
    }

    var port: UInt16 { unsafe nct_server_port(raw) }

    /// The certificate of a TLS server's authority, in PEM.
    var authority: String { unsafe String(cString: nct_server_ca_pem(raw)) }
}

private func choose(_ context: UnsafeMutableRawPointer?, _ choice: OpaquePointer) {
    guard let context = unsafe context else { return }
    let serverContext = unsafe Unmanaged<ListeningServer.ServerContext>.fromOpaque(context).takeUnretainedValue()
    let connection = unsafe nct_choice_connection(choice)
    var length = 0
    var received: UInt64 = 0
    if let body = unsafe nct_choice_body(choice, &length, &received) {
        let bytes = unsafe Array(UnsafeRawBufferPointer(start: body, count: length))
        let reply = serverContext.service.reply(toBody: bytes, of: Int(clamping: received), connection: connection)
        if let reply {
            unsafe respond(choice, reply)
        }
        return
    }
    let first = unsafe nct_choice_head(choice, &length)
    let head = unsafe Array(UnsafeRawBufferPointer(start: first, count: length))
    let reply = serverContext.service.reply(to: ServedRequest(head: head), connection: connection)
    if let steps = reply.socketSteps {
        unsafe accept(choice, reply, steps.isEmpty ? [SocketStep(action: .wait)] : steps)
    } else {
        unsafe respond(choice, reply)
    }
}

/// Chooses a WebSocket as the reply.
private func accept(_ choice: OpaquePointer, _ reply: ServedReply, _ steps: [SocketStep]) {
    var cReply = unsafe nct_reply()
    unsafe cReply.delay_ms = UInt32(clamping: Int(reply.delay / .milliseconds(1)))
    unsafe steps.flatMap(\.bytes).withUnsafeBytes { content in
        var offset = 0
        var cSteps = unsafe [nct_socket_step]()
        for step in steps {
            var cStep = unsafe nct_socket_step()
            unsafe cStep.action = action(step.action)
            unsafe cStep.code = step.code
            unsafe cStep.bytes = content.baseAddress.map { unsafe $0 + offset }
            unsafe cStep.length = step.bytes.count
            unsafe cSteps.append(cStep)
            offset += step.bytes.count
        }
        unsafe reply.lines.withCString { lines in
            unsafe cReply.headers = lines
            unsafe cSteps.withUnsafeBufferPointer { buffer in
                unsafe cReply.socket_steps = buffer.baseAddress
                unsafe cReply.socket_step_count = buffer.count
                _ = unsafe nct_choice_respond(choice, &cReply)
            }
        }
    }
}

private func action(_ action: SocketStep.Action) -> nct_socket_action {
    switch action {
    case .text: .NCT_SOCKET_TEXT
    case .binary: .NCT_SOCKET_BINARY
    case .ping: .NCT_SOCKET_PING
    case .close: .NCT_SOCKET_CLOSE
    case .raw: .NCT_SOCKET_BYTES
    case .wait: .NCT_SOCKET_WAIT
    case .echo: .NCT_SOCKET_ECHO
    case .end: .NCT_SOCKET_END
    case .reset: .NCT_SOCKET_RESET
    }
}

private func respond(_ choice: OpaquePointer, _ reply: ServedReply) {
    var cReply = unsafe nct_reply()
    unsafe cReply.status = UInt16(clamping: reply.status)
    unsafe cReply.is_raw = reply.isWhole
    unsafe cReply.is_cut = reply.cut != nil
    if case .inBody(let count) = reply.cut {
        unsafe cReply.is_cut_in_body = true
        unsafe cReply.cut_after = UInt64(count)
    }
    switch reply.ending {
    case .keep: unsafe cReply.ending = .NCT_KEEP
    case .close: unsafe cReply.ending = .NCT_CLOSE
    case .reset: unsafe cReply.ending = .NCT_RESET
    case .stall: unsafe cReply.ending = .NCT_STALL
    }
    unsafe cReply.delay_ms = UInt32(clamping: Int(reply.delay / .milliseconds(1)))
    unsafe cReply.drip_bytes = reply.drip?.bytes ?? 0
    unsafe cReply.drip_ms = UInt32(clamping: Int((reply.drip?.interval ?? .zero) / .milliseconds(1)))
    unsafe cReply.chunk_bytes = reply.chunkBytes ?? 0
    unsafe cReply.is_echo = reply.isEcho
    unsafe cReply.awaits_body = reply.awaitsBody
    unsafe reply.lines.withCString { lines in
        unsafe cReply.headers = lines
        switch reply.body {
        case .bytes(let bytes):
            unsafe bytes.withUnsafeBytes { body in
                unsafe cReply.body = body.baseAddress
                unsafe cReply.body_length = body.count
                _ = unsafe nct_choice_respond(choice, &cReply)
            }
        case .file(let file, let offset, let length):
            unsafe cReply.has_file = true
            unsafe cReply.file = file.descriptor
            unsafe cReply.file_offset = UInt64(offset)
            unsafe cReply.file_length = UInt64(length)
            if unsafe nct_choice_respond(choice, &cReply) == 0 {
                file.releaseDescriptor()
            }
        }
    }
}

private func received(
    _ context: UnsafeMutableRawPointer?, _ connection: Int, _ first: UnsafePointer<CChar>, _ kept: Int, _ length: UInt64
) {
    guard let context = unsafe context else { return }
    let serverContext = unsafe Unmanaged<ListeningServer.ServerContext>.fromOpaque(context).takeUnretainedValue()
    let bytes = unsafe Array(UnsafeRawBufferPointer(start: first, count: kept))
    serverContext.service.received(bytes, of: Int(clamping: length), connection: connection)
}

private func replied(_ context: UnsafeMutableRawPointer?, _ connection: Int) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<ListeningServer.ServerContext>.fromOpaque(context).takeUnretainedValue().service
        .replied(connection: connection)
}
