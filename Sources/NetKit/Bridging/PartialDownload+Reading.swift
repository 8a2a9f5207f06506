#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import CNetCore

extension PartialDownload {
    /// The contents of a directory.
    final class Listing {
        fileprivate(set) var found: [PartialDownload] = []
        /// Downloads whose records another user could have written, with the reason.
        fileprivate(set) var refused: [(partial: PartialDownload, error: NetError)] = []
    }

    /// Returns the partial downloads of a directory; waits for the disk.
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

    /// Removes those whose last checkpoint is before a moment, and returns their number; waits for the disk.
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
