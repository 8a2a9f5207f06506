internal import CNetCore

/// A WebSocket of the C core. Releasing it does not close it.
@safe final class SocketHandle: Sendable {
    // SAFETY: include/netcore/websocket.h: a socket is thread-safe and stays valid until it is released, which happens
    // once, in deinit. Its callbacks never run inside these functions.
    private nonisolated(unsafe) let raw: OpaquePointer

    /// - Parameter raw: a reference that this object takes over.
    init(_ raw: OpaquePointer) {
        unsafe self.raw = raw
    }

    deinit {
        unsafe nc_socket_release(raw)
    }

    /// Queues a piece of a message. Returns false if the queue is full.
    func send(_ bytes: Bytes, _ range: Range<Int>, isText: Bool, isLast: Bool) throws(NetError) -> Bool {
        var error = nc_error()
        let kind: nc_socket_kind = isText ? .NC_SOCKET_TEXT : .NC_SOCKET_BINARY
        let status = bytes.withSpan { span in
            unsafe span.withUnsafeBufferPointer { buffer in
                let start = unsafe buffer.baseAddress.map { unsafe $0 + range.lowerBound }
                let piece = unsafe nc_slice(data: start, length: range.count)
                return unsafe nc_socket_send(raw, kind, piece, isLast, &error)
            }
        }
        return try Self.isQueued(status, error)
    }

    /// Queues a ping. Returns false if the queue is full.
    func ping(_ payload: UInt64) throws(NetError) -> Bool {
        var error = nc_error()
        let status = unsafe withUnsafeBytes(of: payload) { bytes in
            unsafe nc_socket_ping(
                raw, nc_slice(data: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), length: bytes.count), &error
            )
        }
        return try Self.isQueued(status, error)
    }

    private static func isQueued(_ status: nc_status, _ error: nc_error) throws(NetError) -> Bool {
        if status == .NC_ERR_QUEUE_FULL {
            return false
        }
        if status != .NC_OK {
            throw NetError(error)
        }
        return true
    }

    /// Queues the close frame. Returns false if the socket is closing or has ended.
    func close(_ code: WebSocket.CloseCode?, reason: String) throws(NetError) -> Bool {
        if code?.rawValue == 0 {
            throw NetError(.usage, "0 is not a close code: pass nil to send none")
        }
        var error = nc_error()
        let status = unsafe reason.withSlice { unsafe nc_socket_close(raw, code?.rawValue ?? 0, $0, &error) }
        if status == .NC_ERR_CLOSED {
            return false
        }
        if status != .NC_OK {
            throw NetError(error)
        }
        return true
    }

    /// Ends the connection without a close frame.
    func cancel() {
        unsafe nc_socket_cancel(raw)
    }

    /// Continues to receive after a pause.
    func resume() {
        unsafe nc_socket_resume(raw)
    }

    /// The number of bytes that wait to be sent.
    var queuedBytes: Int { unsafe nc_socket_queued_bytes(raw) }
}

extension WebSocket.Options {
    /// Calls `body` with the C value, which is valid during the call.
    func withDescription(_ body: (UnsafePointer<nc_socket_options>) -> nc_status) -> nc_status {
        func milliseconds(_ duration: Duration?) -> UInt32 {
            guard let duration else { return .max }
            return UInt32(clamping: min(max(1, duration.wholeMilliseconds), Int64(UInt32.max - 1)))
        }
        var options = unsafe nc_socket_options()
        unsafe options.offers_compression = compresses
        unsafe options.max_frame_bytes = maxFrameBytes.map { UInt64(max(1, $0)) } ?? .max
        unsafe options.max_message_bytes = maxMessageBytes.map { UInt64(max(1, $0)) } ?? .max
        unsafe options.max_queued_bytes = max(1, maxQueuedBytes)
        unsafe options.ping_interval_ms = milliseconds(pingInterval)
        unsafe options.peer_timeout_ms = milliseconds(peerTimeout)
        unsafe options.close_timeout_ms = milliseconds(closeTimeout)
        return unsafe StringArena.with(bytes: protocols.reduce(0) { $0 + $1.utf8.count }) { text in
            unsafe withUnsafeTemporaryAllocation(of: nc_slice.self, capacity: protocols.count) { slices in
                for (index, name) in protocols.enumerated() {
                    unsafe slices[index] = text.put(name)
                }
                unsafe options.protocols = UnsafePointer(slices.baseAddress)
                unsafe options.protocol_count = protocols.count
                return unsafe body(&options)
            }
        }
    }
}

extension Engine {
    /// Starts to open a WebSocket. Unless this throws, the sink receives its end exactly once.
    func openSocket(
        _ request: Request<Bytes>, _ options: WebSocket.Options, to sink: SocketSink
    ) throws(NetError) -> SocketHandle {
        try request.checkBeforeSubmit()
        if request.body != nil {
            throw NetError(.usage, "a WebSocket is opened by a GET request without a body")
        }
        var error = nc_error()
        var created: OpaquePointer?
        let trust = try trust(for: request)
        let retained = unsafe Unmanaged.passRetained(sink)
        var target = unsafe SocketSink.cValue(retainedAs: retained)
        let status = unsafe request.withDescription(trust: trust, feed: nil) { description in
            unsafe options.withDescription { options in
                unsafe withRaw { unsafe nc_socket_open(&created, $0, &description, options, &target, &error) }
            }
        }
        guard status == .NC_OK, let created = unsafe created else {
            unsafe retained.release()
            throw NetError(error)
        }
        return unsafe SocketHandle(created)
    }
}
