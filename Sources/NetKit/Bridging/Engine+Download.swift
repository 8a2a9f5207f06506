internal import CNetCore
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension Engine {
    /// Starts a download. Unless this throws, the sink receives the end of the download exactly once.
    func start(
        _ request: Request<Bytes>, plan: DownloadPlan, for sink: DownloadSink
    ) throws(NetError) -> UInt64 {
        var request = request
        request.savePath = nil
        try request.checkBeforeSubmit()
        try plan.options.check()
        let trust = try trust(for: request)
        var id: UInt64 = 0
        var error = nc_error()
        let retained = unsafe Unmanaged.passRetained(sink)
        var target = unsafe sink.cValue(retainedAs: retained)
        let status = unsafe request.withDescription(trust: trust, feed: nil) { description in
            unsafe plan.withDescription(needsDecision: sink.needsDecision) { options in
                unsafe withUnsafePointer(to: description) { description in
                    unsafe options.request = description
                    return unsafe withRaw { unsafe nc_download_start($0, &options, &target, &id, &error) }
                }
            }
        }
        if status != .NC_OK {
            unsafe retained.release()
            throw NetError(error)
        }
        let started = id
        plan.began(
            DownloadPlan.Operations(
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

    /// Sets the destination of a download that waits for it. If `path` is empty, the original destination is used.
    func setDownloadDestination(_ id: UInt64, at path: String) {
        unsafe path.withSlice { path in
            unsafe withRaw { unsafe nc_download_set_destination($0, id, path) }
        }
    }
}

extension DownloadOptions {
    /// Throws ``NetError/Code/usage`` for values that the core cannot check: it would read beyond their end or treat
    /// them as missing.
    func check() throws(NetError) {
        for checksum in checksums {
            let (name, digits, length) =
                switch checksum {
                case .sha256(let digits): ("SHA-256", digits, Int(NC_SHA256_BYTES))
                case .md5(let digits): ("MD5", digits, Int(NC_MD5_BYTES))
                }
            if Self.bytes(digits)?.count != length {
                throw NetError(.usage, "the expected \(name) must be \(2 * length) hexadecimal digits, not '\(digits)'")
            }
        }
        if checksums.compactMap(sha256).count > 1 || checksums.compactMap(md5).count > 1 {
            throw NetError(.usage, "a download can have only one expected checksum of each kind")
        }
        if segments < 1 || segments > Int(NC_DOWNLOAD_MAX_SEGMENTS) {
            throw NetError(.usage, "a download must have 1 to 16 segments, not \(segments)")
        }
        if partialFolder == "" {
            throw NetError(.usage, "the path of the folder for partial downloads is empty (partialFolder)")
        }
    }

    /// The expected SHA-256; `nil` if there is none.
    var sha256: Bytes? { checksums.lazy.compactMap(sha256).first }
    /// The expected MD5; `nil` if there is none.
    var md5: Bytes? { checksums.lazy.compactMap(md5).first }

    private func sha256(_ checksum: Checksum) -> Bytes? {
        if case .sha256(let digits) = checksum { Self.bytes(digits) } else { nil }
    }

    private func md5(_ checksum: Checksum) -> Bytes? {
        if case .md5(let digits) = checksum { Self.bytes(digits) } else { nil }
    }

    private static func bytes(_ digits: String) -> Bytes? { try? Bytes(hexText: digits) }

    fileprivate var cExisting: nc_existing {
        switch overwrite {
        case nil: .NC_EXISTING_DEFAULT
        case true?: .NC_EXISTING_REPLACE
        case false?: .NC_EXISTING_REFUSE
        }
    }

    fileprivate var checkpointMilliseconds: UInt32 {
        UInt32(clamping: max(1, checkpointInterval.attoseconds / 1_000_000_000_000_000))
    }
}

extension DownloadPlan {
    /// Calls `start` with the C value of the plan, which is valid during the call.
    fileprivate func withDescription(
        needsDecision: Bool, _ start: (inout nc_download_options) -> nc_status
    ) -> nc_status {
        let bytes = path.utf8.count + (options.partialFolder?.utf8.count ?? 0)
        return unsafe StringArena.with(bytes: bytes) { text in
            var description = unsafe nc_download_options()
            unsafe description.path = text.put(path)
            unsafe description.partial_folder = text.put(options.partialFolder)
            unsafe description.ignores_disposition = !options.takesNameFromDisposition
            unsafe description.existing = options.cExisting
            unsafe description.restarts = !options.resume
            unsafe description.trusts_server = options.trustsServer
            unsafe description.requests_destination = needsDecision
            unsafe description.skips_sync = !options.isDurable
            unsafe description.segments = UInt32(options.segments)
            unsafe description.checkpoint_interval_ms = options.checkpointMilliseconds
            return unsafe Array(options.sha256 ?? []).withUnsafeBufferPointer { sha256 in
                unsafe Array(options.md5 ?? []).withUnsafeBufferPointer { md5 in
                    unsafe description.sha256 = sha256.isEmpty ? nil : sha256.baseAddress
                    unsafe description.md5 = md5.isEmpty ? nil : md5.baseAddress
                    return unsafe start(&description)
                }
            }
        }
    }
}

extension PartialDownload {
    /// The partial downloads in a directory.
    final class Listing {
        fileprivate(set) var found: [PartialDownload] = []
        /// Downloads whose records another user could have written, with the reason.
        fileprivate(set) var refused: [(partial: PartialDownload, error: NetError)] = []
    }

    /// Returns the partial downloads in a directory. Waits for the disk.
    static func list(in folder: String) throws(NetError) -> Listing {
        let listing = Listing()
        var error = nc_error()
        let status = unsafe folder.withSlice { folder in
            unsafe nc_download_list(
                { context, entry in
                    guard let context = unsafe context else { return false }
                    let listing = unsafe Unmanaged<Listing>.fromOpaque(context).takeUnretainedValue()
                    let partial = unsafe PartialDownload(entry.pointee)
                    if let refusal = unsafe entry.pointee.refusal {
                        listing.refused.append((partial, unsafe NetError(refusal.pointee)))
                    } else {
                        listing.found.append(partial)
                    }
                    return true
                }, Unmanaged.passUnretained(listing).toOpaque(), folder, nil, &error)
        }
        if status != .NC_OK {
            throw NetError(error)
        }
        listing.found.sort { $0.partialPath < $1.partialPath }
        listing.refused.sort { $0.partial.partialPath < $1.partial.partialPath }
        return listing
    }

    /// Removes the partial downloads whose last checkpoint is before a point in time, or all of them if it is `nil`.
    /// Returns the number of removed downloads. Waits for the disk.
    static func purge(in folder: String, before moment: Date?) throws(NetError) -> Int {
        var removed: UInt64 = 0
        var error = nc_error()
        let milliseconds = moment.map { Int64(moment: $0.timeIntervalSince1970 * 1000) } ?? .max
        let status = unsafe folder.withSlice { folder in
            unsafe nc_download_purge(&removed, folder, milliseconds, nil, &error)
        }
        if status != .NC_OK {
            throw NetError(error)
        }
        return Int(clamping: removed)
    }

    private init(_ entry: nc_download_entry) {
        let total = unsafe entry.total_bytes
        unsafe self.init(
            url: entry.url.text, path: entry.path.text, partialPath: entry.partial_path.text,
            receivedBytes: Int(clamping: entry.received_bytes), totalBytes: total == .max ? nil : Int(clamping: total),
            changed: Date(timeIntervalSince1970: Double(entry.changed_at_ms) / 1000),
            hasValidator: entry.has_validator, isActive: entry.is_active)
    }
}
