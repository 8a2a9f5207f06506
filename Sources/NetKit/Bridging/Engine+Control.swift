internal import CNetCore

extension Engine {
    /// Keeps waiting transfers from starting, or lets them start again.
    func setSuspended(_ isSuspended: Bool) {
        unsafe withRaw { unsafe nc_engine_set_suspended($0, isSuspended) }
    }

    /// Changes the priority of a waiting transfer.
    func setPriority(_ priority: Priority, of id: UInt64) {
        unsafe withRaw { unsafe nc_engine_set_priority($0, id, priority.cValue) }
    }

    /// The operations of a ticket on its transfers.
    var grip: CallTicket.Grip {
        CallTicket.Grip(
            setPaused: { [self] in $1 ? pause($0) : resume($0, from: .NC_REST_PAUSED) },
            setPriority: { [self] in setPriority($1, of: $0) })
    }

    /// Returns the transfers that have not ended; one that ends in the meantime is left out.
    func transfers() -> [TransferInfo] {
        var capacity = 64
        while true {
            var count = 0
            let listed = unsafe withRaw { raw in
                unsafe [nc_transfer_info](unsafeUninitializedCapacity: capacity) { buffer, filled in
                    count = unsafe nc_engine_list(raw, buffer.baseAddress, capacity)
                    filled = min(count, capacity)
                }
            }
            if count <= capacity {
                return listed.compactMap { info in describe(info.id).map { TransferInfo(info, url: $0) } }
            }
            capacity = count + count / 4
        }
    }

    private func describe(_ id: UInt64) -> String? {
        var buffer = unsafe nc_buf_init(Int(NC_URL_MAX_BYTES) * 2)
        defer { unsafe nc_buf_deinit(&buffer) }
        let status = unsafe withRaw { unsafe nc_engine_describe($0, id, &buffer) }
        return status == .NC_OK ? unsafe nc_buf_slice(&buffer).text : nil
    }

    /// Returns the jar's cookies, one a line. Does not wait for the event loop.
    func copyCookies() throws(NetError) -> [UInt8] {
        var buffer = unsafe nc_buf_init(64 << 20)
        defer { unsafe nc_buf_deinit(&buffer) }
        var error = nc_error()
        let status = unsafe withRaw { unsafe nc_engine_copy_cookies($0, &buffer, &error) }
        if status != .NC_OK {
            throw NetError(error)
        }
        return unsafe nc_buf_slice(&buffer).withSpan { span in span.indices.map { span[$0] } }
    }

    /// Adds cookies, one a line. Without any, removes all.
    func setCookies(_ lines: [UInt8]) throws(NetError) {
        var error = nc_error()
        let status = unsafe Bytes(lines).withSlice { lines in
            unsafe withRaw { unsafe nc_engine_set_cookies($0, lines, &error) }
        }
        if status != .NC_OK {
            throw NetError(error)
        }
    }
}

extension TransferInfo {
    fileprivate init(_ info: nc_transfer_info, url: String) {
        self.init(
            id: info.id, state: State(info.state), priority: Priority(info.priority), isPaused: info.is_paused,
            age: .nanoseconds(Int64(clamping: info.age_ns)), sentBytes: Int(clamping: info.sent_bytes),
            receivedBytes: Int(clamping: info.received_bytes), url: url)
    }
}

extension TransferInfo.State {
    fileprivate init(_ state: nc_transfer_state) {
        switch state {
        case .NC_TRANSFER_CONNECTING: self = .connecting
        case .NC_TRANSFER_SENDING: self = .sending
        case .NC_TRANSFER_AWAITING_REPLY: self = .awaitingReply
        case .NC_TRANSFER_RECEIVING: self = .receiving
        default: self = .waiting
        }
    }
}
