internal import CNetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A store in the C core, closed with the last reference. Every call except `usage` waits for the disk.
@safe final class OwnedStore: Sendable {
    // SAFETY: include/netcore/store.h: a store is thread-safe, and closed after all calls: deinit runs after the last
    // one.
    private nonisolated(unsafe) let raw: OpaquePointer

    /// Opens the directory.
    init(_ settings: DiskCacheStore.Settings) throws(NetError) {
        var made: OpaquePointer?
        var error = nc_error()
        let status = try unsafe settings.withOptions { options in unsafe nc_store_new(&made, &options, &error) }
        guard status == .NC_OK, let made = unsafe made else { throw NetError(error) }
        unsafe raw = made
    }

    deinit {
        unsafe nc_store_free(raw)
    }

    func entry(for key: CacheKey) throws(NetError) -> CacheEntry? {
        var error = nc_error()
        var status = nc_status.NC_OK
        var found = unsafe nc_store_entry()
        let body = unsafe StoredBody { buffer in
            status = unsafe Bytes(key.description).withSlice { unsafe nc_store_get(&found, raw, $0, &buffer, &error) }
            return unsafe found.body
        }
        guard status == .NC_OK else { throw NetError(error) }
        guard unsafe found.found == .NC_STORE_HIT else { return nil }
        // The slices point into the body's memory.
        return withExtendedLifetime(body) {
            var entry = unsafe CacheEntry(found)
            entry.body = Bytes(received: body)
            return entry
        }
    }

    func put(_ entry: CacheEntry, for key: CacheKey) throws(NetError) {
        let tags = entry.tags.sorted().joined(separator: "\0")
        if entry.tags.contains(where: { $0.utf8.contains(0) }) {
            throw NetError(.usage, "a tag holds a NUL")
        }
        var error = nc_error()
        var draft = unsafe nc_store_draft()
        unsafe draft.lifetime_ms = entry.lifetimeMilliseconds
        unsafe draft.created_at_ms = entry.created.map { $0.milliseconds } ?? 0
        let status = unsafe Bytes(key.description).withSlice { keyBytes in
            unsafe entry.metadata.withSlice { metadata in
                unsafe entry.host.withSlice { host in
                    unsafe tags.withSlice { tags in
                        unsafe draft.key = keyBytes
                        unsafe draft.metadata = metadata
                        unsafe draft.host = host
                        unsafe draft.tags = tags
                        return unsafe entry.body.withSlice { unsafe nc_store_put(raw, &draft, $0, &error) }
                    }
                }
            }
        }
        if status != .NC_OK {
            throw NetError(error)
        }
    }

    func remove(_ key: CacheKey) throws(NetError) -> Bool {
        try count { removed, error in
            unsafe Bytes(key.description).withSlice { unsafe nc_store_remove(&removed, raw, $0, &error) }
        } != 0
    }

    func removeAll(tagged tag: String) throws(NetError) -> Int {
        if tag.isEmpty {
            return 0
        }
        return try count { removed, error in
            unsafe tag.withSlice { unsafe nc_store_remove_tag(&removed, raw, $0, &error) }
        }
    }

    func removeAll(from host: String) throws(NetError) -> Int {
        if host.isEmpty {
            return 0
        }
        let written = try removeAll(fromWritten: host)
        guard let canonical = host.canonicalHost, canonical != host else { return written }
        return written + (try removeAll(fromWritten: canonical))
    }

    private func removeAll(fromWritten host: String) throws(NetError) -> Int {
        try count { removed, error in
            unsafe host.withSlice { unsafe nc_store_remove_host(&removed, raw, $0, &error) }
        }
    }

    func removeAll() throws(NetError) -> Int {
        try count { removed, error in unsafe nc_store_remove_all(&removed, raw, &error) }
    }

    private func count(_ remove: (inout UInt64, inout nc_error) -> nc_status) throws(NetError) -> Int {
        var removed: UInt64 = 0
        var error = nc_error()
        guard remove(&removed, &error) == .NC_OK else { throw NetError(error) }
        return Int(clamping: removed)
    }

    func list() throws(NetError) -> [CacheListing] {
        let lines = ListedEntries()
        var error = nc_error()
        let status = unsafe nc_store_list(raw, listed, Unmanaged.passUnretained(lines).toOpaque(), &error)
        guard status == .NC_OK else { throw NetError(error) }
        var listing: [CacheListing] = []
        for line in lines.all {
            let key = CacheKey(description: line.description)
            listing.append(CacheListing(key: key, entry: line.entry, bodyBytes: line.bodyBytes))
        }
        return listing
    }

    func verify() throws(NetError) -> DiskCacheStore.Report {
        var report = nc_store_report()
        var error = nc_error()
        guard unsafe nc_store_verify(&report, raw, &error) == .NC_OK else { throw NetError(error) }
        return DiskCacheStore.Report(
            good: Int(clamping: report.good), damaged: Int(clamping: report.damaged),
            expired: Int(clamping: report.expired), locked: Int(clamping: report.locked),
            leftovers: Int(clamping: report.leftovers), foreign: Int(clamping: report.foreign))
    }

    var usage: CacheUsage {
        let figures = unsafe nc_store_figures(raw)
        return CacheUsage(
            entries: Int(clamping: figures.entries), bytes: Int(clamping: figures.bytes),
            maximumBytes: Int(clamping: figures.max_bytes), hits: Int(clamping: figures.hits),
            misses: Int(clamping: figures.misses), evictions: Int(clamping: figures.evictions))
    }
}

/// NC_STORE_FOREVER, a macro that Swift does not import.
private let forever = UInt64.max

/// The entries that were listed so far.
private final class ListedEntries {
    var all: [(description: [UInt8], entry: CacheEntry, bodyBytes: Int)] = []
}

extension CacheEntry {
    /// Copies everything except the body.
    fileprivate init(_ entry: nc_store_entry) {
        let tags = unsafe entry.tags.text.split(separator: "\0").map(String.init)
        self.init(
            body: [], metadata: unsafe Bytes(entry.metadata.withSpan { span in [UInt8](copying: span) }),
            host: unsafe entry.host.text, tags: Set(tags),
            lifetime: unsafe entry.lifetime_ms == forever
                ? nil : .milliseconds(Int64(clamping: unsafe entry.lifetime_ms)),
            created: Date(timeIntervalSince1970: Double(unsafe entry.created_at_ms) / 1000))
    }

    /// To the core 0 is no lifetime, so a lifetime of zero becomes a millisecond.
    fileprivate var lifetimeMilliseconds: UInt64 {
        guard let lifetime else { return forever }
        let milliseconds = lifetime / .milliseconds(1)
        return milliseconds >= 0x1p63 ? forever : UInt64(max(1, milliseconds))
    }
}

extension Date {
    /// Milliseconds since 1970; to the core 0 is no time.
    fileprivate var milliseconds: Int64 {
        // Rounded down: half a millisecond ahead of the clock would be in the future, and the entry useless. A time
        // from whole milliseconds may be slightly below them.
        let milliseconds = Int64(moment: timeIntervalSince1970 * 1000 + 0.001)
        return milliseconds == 0 ? 1 : milliseconds
    }
}

extension [UInt8] {
    fileprivate init(copying span: Span<UInt8>) {
        self = unsafe span.withUnsafeBufferPointer { unsafe Array($0) }
    }
}

private func listed(_ context: UnsafeMutableRawPointer?, _ entry: UnsafePointer<nc_store_entry>) -> Bool {
    guard let context = unsafe context else { return false }
    let lines = unsafe Unmanaged<ListedEntries>.fromOpaque(context).takeUnretainedValue()
    let found = unsafe entry.pointee
    let description = unsafe found.key.withSpan { span in [UInt8](copying: span) }
    lines.all.append((description, unsafe CacheEntry(found), Int(clamping: unsafe found.body_bytes)))
    return true
}
