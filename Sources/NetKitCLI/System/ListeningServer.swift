import CNetCore
import CNetTesting
import NetKit

/// The loopback server of CNetTesting with a Swift service. It runs as long as this object lives.
@safe final class ListeningServer: Sendable {
    fileprivate final class Desk: Sendable {
        let service: any Serving

        init(_ service: any Serving) {
            self.service = service
        }
    }

    private let desk: Desk
    // SAFETY: nettesting/server.h: stop is called once, in deinit, and joins the thread that calls the desk. This
    // object keeps the desk until then.
    private nonisolated(unsafe) let raw: OpaquePointer

    /// - Parameters:
    ///   - address: a numeric address.
    ///   - port: 0 lets the system choose one.
    init(_ service: any Serving, address: String, port: UInt16, isSecure: Bool = false) throws(SystemError) {
        let desk = Desk(service)
        var made: OpaquePointer?
        let number = unsafe address.withCString { address in
            var options = unsafe nct_server_options()
            unsafe options.identity = isSecure ? .NCT_TLS_VALID : .NCT_PLAIN
            unsafe options.host = address
            unsafe options.port = port
            unsafe options.choose = choose
            unsafe options.received = received
            unsafe options.replied = replied
            unsafe options.context = Unmanaged.passUnretained(desk).toOpaque()
            unsafe options.is_forgetful = true
            return unsafe nct_server_start(&made, &options)
        }
        guard number == 0, let made = unsafe made else { throw SystemError(number: number) }
        unsafe raw = made
        self.desk = desk
    }

    deinit {
        unsafe nct_server_stop(raw)
    }

    var port: UInt16 { unsafe nct_server_port(raw) }

    /// The authority of a TLS server, in PEM.
    var authority: String { unsafe String(cString: nct_server_ca_pem(raw)) }
}

private func choose(_ context: UnsafeMutableRawPointer?, _ choice: OpaquePointer) {
    guard let context = unsafe context else { return }
    let desk = unsafe Unmanaged<ListeningServer.Desk>.fromOpaque(context).takeUnretainedValue()
    var length = 0
    let first = unsafe nct_choice_head(choice, &length)
    let head = unsafe Array(UnsafeRawBufferPointer(start: first, count: length))
    let reply = desk.service.reply(
        to: ServedRequest(head: head), connection: Int(unsafe nct_choice_connection(choice)))
    unsafe answer(choice, reply)
}

private func answer(_ choice: OpaquePointer, _ reply: ServedReply) {
    var described = unsafe nct_reply()
    unsafe described.status = UInt16(clamping: reply.status)
    unsafe described.is_raw = reply.isWhole
    unsafe described.is_cut = reply.cut != nil
    if case .inBody(let count) = reply.cut {
        unsafe described.is_cut_in_body = true
        unsafe described.cut_after = UInt64(count)
    }
    switch reply.ending {
    case .keep: unsafe described.ending = .NCT_KEEP
    case .close: unsafe described.ending = .NCT_CLOSE
    case .reset: unsafe described.ending = .NCT_RESET
    case .stall: unsafe described.ending = .NCT_STALL
    }
    unsafe described.delay_ms = UInt32(clamping: Int(reply.delay / .milliseconds(1)))
    unsafe described.drip_bytes = reply.drip?.bytes ?? 0
    unsafe described.drip_ms = UInt32(clamping: Int((reply.drip?.interval ?? .zero) / .milliseconds(1)))
    unsafe described.chunk_bytes = reply.chunkBytes ?? 0
    unsafe reply.lines.withCString { lines in
        unsafe described.headers = lines
        switch reply.body {
        case .bytes(let bytes):
            unsafe bytes.withUnsafeBytes { body in
                unsafe described.body = body.baseAddress
                unsafe described.body_length = body.count
                _ = unsafe nct_choice_answer(choice, &described)
            }
        case .file(let file, let offset, let length):
            unsafe described.has_file = true
            unsafe described.file = file.descriptor
            unsafe described.file_offset = UInt64(offset)
            unsafe described.file_length = UInt64(length)
            if unsafe nct_choice_answer(choice, &described) == 0 {
                file.giveAway()
            }
        }
    }
}

private func received(
    _ context: UnsafeMutableRawPointer?, _ connection: Int, _ first: UnsafePointer<CChar>, _ kept: Int, _ length: UInt64
) {
    guard let context = unsafe context else { return }
    let desk = unsafe Unmanaged<ListeningServer.Desk>.fromOpaque(context).takeUnretainedValue()
    let bytes = unsafe Array(UnsafeRawBufferPointer(start: first, count: kept))
    desk.service.received(bytes, of: Int(clamping: length), connection: connection)
}

private func replied(_ context: UnsafeMutableRawPointer?, _ connection: Int) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<ListeningServer.Desk>.fromOpaque(context).takeUnretainedValue().service
        .replied(connection: connection)
}
