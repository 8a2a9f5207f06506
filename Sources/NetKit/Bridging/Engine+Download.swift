internal import CNetCore

extension Engine {
    /// Starts a download. The sink receives its end exactly once, unless this throws.
    func start(
        _ request: Request<Bytes>, plan: DownloadPlan, for sink: DownloadSink
    ) throws(NetError) -> UInt64 {
        if request.expectation != nil {
            throw NetError(.usage, "a download is not checked as JSON: save(_:to:) is")
        }
        var request = request
        request.savePath = nil
        try request.checkBeforeSubmit()
        try plan.options.check()
        let trust = try trust(for: request)
        var id: UInt64 = 0
        var error = nc_error()
        let kept = unsafe Unmanaged.passRetained(sink)
        var target = unsafe sink.cValue(keptAs: kept)
        let status = unsafe request.withDescription(trust: trust, feed: nil) { description in
            unsafe plan.withDescription(asks: sink.isAsked) { options in
                unsafe withUnsafePointer(to: description) { description in
                    unsafe options.request = description
                    return unsafe withRaw { unsafe nc_download_start($0, &options, &target, &id, &error) }
                }
            }
        }
        if status != .NC_OK {
            unsafe kept.release()
            throw NetError(error)
        }
        let started = id
        plan.began(
            DownloadPlan.Reins(
                pause: { [self] in unsafe withRaw { unsafe nc_download_pause($0, started) } },
                resume: { [self] in unsafe withRaw { unsafe nc_download_resume($0, started) } },
                setPriority: { [self] priority in
                    unsafe withRaw { unsafe nc_download_set_priority($0, started, priority.cValue) }
                }))
        return id
    }

    /// Cancels a download. Does nothing if it has ended.
    func cancelDownload(_ id: UInt64) {
        unsafe withRaw { unsafe nc_download_cancel($0, id) }
    }

    /// Sets the destination of a download that waits for it; empty keeps its original one.
    func placeDownload(_ id: UInt64, at path: String) {
        unsafe path.withSlice { path in
            unsafe withRaw { unsafe nc_download_place($0, id, path) }
        }
    }
}

extension DownloadOptions {
    /// Checks for values that the core would read beyond their end, or treat as missing.
    func check() throws(NetError) {
        if let sha256, sha256.count != Int(NC_SHA256_BYTES) {
            throw NetError(.usage, "a SHA-256 has 32 bytes, not \(sha256.count)")
        }
        if let md5, md5.count != Int(NC_MD5_BYTES) {
            throw NetError(.usage, "an MD5 has 16 bytes, not \(md5.count)")
        }
        if segments < 1 || segments > Int(NC_DOWNLOAD_MAX_SEGMENTS) {
            throw NetError(.usage, "a download has 1 to 16 segments, not \(segments)")
        }
        if partialFolder == "" {
            throw NetError(.usage, "the folder for partial downloads is empty")
        }
    }

    fileprivate var cExisting: nc_existing {
        switch existing {
        case .automatic: .NC_EXISTING_DEFAULT
        case .replaced: .NC_EXISTING_REPLACE
        case .kept: .NC_EXISTING_REFUSE
        }
    }

    fileprivate var proofMilliseconds: UInt32 {
        UInt32(clamping: max(1, proofInterval.attoseconds / 1_000_000_000_000_000))
    }
}

extension DownloadPlan {
    /// Calls `start` with the core's form of the plan, which is valid during the call.
    fileprivate func withDescription(
        asks isAsked: Bool, _ start: (inout nc_download_options) -> nc_status
    ) -> nc_status {
        let bytes = path.utf8.count + (options.partialFolder?.utf8.count ?? 0)
        return unsafe TextSpace.with(bytes: bytes) { text in
            var description = unsafe nc_download_options()
            unsafe description.path = text.put(path)
            unsafe description.partial_folder = text.put(options.partialFolder)
            unsafe description.ignores_disposition = !options.takesNameFromDisposition
            unsafe description.existing = options.cExisting
            unsafe description.restarts = !options.resumes
            unsafe description.trusts_server = options.trustsServer
            unsafe description.asks_destination = isAsked
            unsafe description.skips_sync = !options.isDurable
            unsafe description.segments = UInt32(options.segments)
            unsafe description.proof_ms = options.proofMilliseconds
            return unsafe (options.sha256 ?? []).withUnsafeBufferPointer { sha256 in
                unsafe (options.md5 ?? []).withUnsafeBufferPointer { md5 in
                    unsafe description.sha256 = options.sha256 == nil ? nil : sha256.baseAddress
                    unsafe description.md5 = options.md5 == nil ? nil : md5.baseAddress
                    return unsafe start(&description)
                }
            }
        }
    }
}
