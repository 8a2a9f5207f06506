internal import CNetCore

// Conversions between request settings and their C values.

extension RedirectPolicy {
    var cValue: nc_redirect_choice {
        switch self {
        case .follow, .inherited: .NC_REDIRECTS_FOLLOW
        case .followDowngrades: .NC_REDIRECTS_FOLLOW_DOWNGRADE
        case .return: .NC_REDIRECTS_RETURN
        }
    }
}

extension CookiePolicy {
    var cValue: UInt8 {
        let value: nc_cookie_use =
            switch self {
            case .sendAndStore: .NC_COOKIES_SEND_AND_STORE
            case .sendOnly: .NC_COOKIES_SEND_ONLY
            case .storeOnly: .NC_COOKIES_STORE_ONLY
            case .ignore: .NC_COOKIES_IGNORE
            }
        return UInt8(value.rawValue)
    }
}

extension HTTPVersionPolicy {
    var cValue: nc_http_choice {
        switch self {
        case .automatic: .NC_HTTP_AUTO
        case .http1_0: .NC_HTTP_1_0
        case .http1: .NC_HTTP_1_1
        case .http2PriorKnowledge: .NC_HTTP_2_PRIOR_KNOWLEDGE
        case .http3Only: .NC_HTTP_3_ONLY
        case .http3IfPossible: .NC_HTTP_3_IF_POSSIBLE
        }
    }
}

extension Priority {
    init(_ priority: nc_priority) {
        switch priority {
        case .NC_PRIORITY_HIGH: self = .high
        case .NC_PRIORITY_LOW: self = .low
        default: self = .normal
        }
    }

    var cValue: nc_priority {
        switch self {
        case .high: .NC_PRIORITY_HIGH
        case .normal: .NC_PRIORITY_NORMAL
        case .low: .NC_PRIORITY_LOW
        }
    }
}

extension TransferProgress {
    init(_ progress: nc_progress) {
        func total(_ bytes: UInt64) -> Int? { bytes == .max ? nil : Int(clamping: bytes) }
        self.init()
        sent = Int(clamping: progress.sent_bytes)
        sendTotal = total(progress.send_total_bytes)
        received = Int(clamping: progress.received_bytes)
        receiveTotal = total(progress.receive_total_bytes)
        bytesPerSecond = Int(clamping: progress.bytes_per_s)
        if progress.part.count > 0 {
            part = Part(
                index: progress.part.index, count: progress.part.count, sent: Int(clamping: progress.part.sent_bytes),
                total: total(progress.part.total_bytes))
        }
        timeLeft = progress.left_ms == .max ? nil : .milliseconds(Int64(clamping: progress.left_ms))
    }
}

extension Limits {
    /// The C value. In the core, 0 stands for the default. Therefore a limit of 0 becomes one millisecond or one byte,
    /// or a special value such as NC_NO_BODY.
    var cValue: nc_limits {
        func milliseconds(_ duration: Duration?) -> UInt32 {
            guard let duration else { return .max }
            // `attoseconds` needs one division. `Duration.components` would need two, and each request has five limits
            // of time.
            let attoseconds = duration.attoseconds
            if attoseconds <= 0 {
                return 1
            }
            return UInt32(clamping: min(max(attoseconds / 1_000_000_000_000_000, 1), Int128(UInt32.max - 1)))
        }
        let noBody = UInt64.max - 1  // NC_NO_BODY
        let noCodings = UInt32.max - 1  // NC_NO_CODINGS
        func number(_ value: Int?) -> UInt32 { value.map { UInt32(clamping: max(1, $0)) } ?? .max }
        return nc_limits(
            connect_ms: milliseconds(connect), first_byte_ms: milliseconds(firstByte), idle_ms: milliseconds(idle),
            slot_ms: milliseconds(slot), total_ms: milliseconds(total),
            max_redirects: redirectLimit,
            max_body_bytes: maxBodyBytes.map { $0 > 0 ? UInt64($0) : noBody } ?? .max,
            max_head_bytes: number(maxHeadBytes),
            max_head_fields: number(maxHeadFields),
            max_codings: maxCodings.map { $0 > 0 ? number($0) : noCodings } ?? .max,
            max_send_bytes_per_s: Self.rate(maxSendBytesPerSecond),
            max_receive_bytes_per_s: Self.rate(maxReceiveBytesPerSecond))
    }

    /// The C value of `maxRedirects`. If no redirect is allowed, it is `UInt32.max`: NC_NO_REDIRECTS in the core.
    var redirectLimit: UInt32 {
        maxRedirects > 0 ? UInt32(clamping: min(maxRedirects, Int(UInt32.max) - 1)) : .max
    }

    /// Returns the C value of a rate. In the core, 0 means unlimited.
    static func rate(_ bytesPerSecond: Int?) -> UInt64 {
        bytesPerSecond.map { UInt64(max(1, $0)) } ?? 0
    }
}
