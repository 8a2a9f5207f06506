import CNetTesting

/// Converts responses to the server's C structs. The server copies them.
@unsafe enum ReplyDescription {
    static func with(_ replies: [Reply], _ body: (UnsafePointer<nct_reply>) -> Int32) -> Int32 {
        unsafe with(replies[...], done: [], body)
    }

    private static func with(
        _ rest: ArraySlice<Reply>, done: [nct_reply], _ body: (UnsafePointer<nct_reply>) -> Int32
    ) -> Int32 {
        guard let reply = rest.first else {
            return unsafe done.withUnsafeBufferPointer { unsafe body($0.baseAddress.unsafelyUnwrapped) }
        }
        return unsafe reply.withDescription { unsafe with(rest.dropFirst(), done: done + [$0], body) }
    }
}

extension Reply {
    fileprivate func withDescription(_ body: (nct_reply) -> Int32) -> Int32 {
        func text(_ lines: [String]) -> String { lines.map { "\($0)\r\n" }.joined() }
        return unsafe text(headers).withCString { headers in
            unsafe text(trailers).withCString { trailers in
                unsafe (location ?? "").withCString { location in
                    unsafe (user ?? "").withCString { user in
                        unsafe password.withCString { password in
                            var described = unsafe plainDescription
                            unsafe described.headers = headers
                            unsafe described.trailers = trailers
                            unsafe described.location = self.location == nil ? nil : location
                            unsafe described.user = self.user == nil ? nil : user
                            unsafe described.password = password
                            return unsafe self.body.withUnsafeBytes { bytes in
                                unsafe described.body = bytes.baseAddress
                                unsafe described.body_length = bytes.count
                                return unsafe body(described)
                            }
                        }
                    }
                }
            }
        }
    }

    private var plainDescription: nct_reply {
        var described = unsafe nct_reply()
        unsafe described.status = location == nil || status != 200 ? status : 0
        unsafe described.pattern_length = patternLength
        unsafe described.is_echo = isEcho
        unsafe described.is_raw = isRaw
        unsafe described.answers_ranges = answersRanges
        unsafe described.chunk_bytes = chunkBytes
        unsafe described.cut_after = cutAfter ?? 0
        unsafe described.is_cut = cutAfter != nil
        unsafe described.ending = ending.cValue
        unsafe described.drip_bytes = dripBytes
        unsafe described.drip_ms = dripMilliseconds
        unsafe described.early = early.cValue
        return unsafe described
    }
}

extension Reply.Early {
    fileprivate var cValue: nct_early {
        switch self {
        case .patient: .NCT_PATIENT
        case .discard: .NCT_EARLY_DISCARD
        case .end: .NCT_EARLY_END
        case .stop: .NCT_EARLY_STOP
        }
    }
}

extension Reply.Ending {
    fileprivate var cValue: nct_ending {
        switch self {
        case .keep: .NCT_KEEP
        case .close: .NCT_CLOSE
        case .reset: .NCT_RESET
        case .stall: .NCT_STALL
        }
    }
}
