internal import CNetCore
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A cache store of the C core, which is closed when the last reference is released. Every call except `usage` waits
/// for the disk.
@safe final class OwnedStore: Sendable {
    // SAFETY: include/netcore/store.h: a store is thread-safe and must be closed after all calls have ended. deinit
    // runs after the last call.
    private nonisolated(unsafe) let raw: OpaquePointer

    /// Opens the directory.
    init(_ settings: DiskCacheStore.Settings) throws(NetError) {
        var created: OpaquePointer?
        var error = nc_error()
        let status = try unsafe settings.withOptions { options in unsafe nc_store_new(&created, &options, &error) }
        guard status == .NC_OK, let created = unsafe created else { throw NetError(error) }
        unsafe raw = created
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
            throw NetError(.usage, "a cache tag contains a NUL byte")
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

    func removeAll(_ selection: CacheSelection) throws(NetError) -> Int {
        switch selection {
        case .all: return try count { removed, error in unsafe nc_store_remove_all(&removed, raw, &error) }
        case .key(let key): return try remove(key) ? 1 : 0
        case .tagged(""), .host(""): return 0
        case .tagged(let tag):
            return try count { removed, error in
                unsafe tag.withSlice { unsafe nc_store_remove_tag(&removed, raw, $0, &error) }
            }
        case .host(let host):
            let count = try removeAll(withExactHost: host)
            guard let canonical = host.canonicalHost, canonical != host else { return count }
            return count + (try removeAll(withExactHost: canonical))
        }
    }

    private func removeAll(withExactHost host: String) throws(NetError) -> Int {
        try count { removed, error in
            unsafe host.withSlice { unsafe nc_store_remove_host(&removed, raw, $0, &error) }
        }
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

/// The value of the macro NC_STORE_FOREVER, which Swift does not import.
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

    /// The lifetime in milliseconds. The core does not accept 0, so a lifetime of zero becomes one millisecond.
    fileprivate var lifetimeMilliseconds: UInt64 {
        guard let lifetime else { return forever }
        let milliseconds = lifetime / .milliseconds(1)
        return milliseconds >= 0x1p63 ? forever : UInt64(max(1, milliseconds))
    }
}

extension Date {
    /// The milliseconds since 1970. In the core, 0 stands for "no time", so 0 becomes 1.
    fileprivate var milliseconds: Int64 {
        // The value is rounded down, because an entry whose time is in the future would not be used. 0.001 is added
        // because a date that was created from whole milliseconds may be slightly less.
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

/// The content of a store's file in memory. The body is a part of it and is not copied.
@safe private final class StoredBody: ByteStorage {
    // SAFETY: the buffer is filled in init, never changed after that, and freed only by deinit.
    private nonisolated(unsafe) var buffer: nc_buf
    private nonisolated(unsafe) var body: nc_slice

    /// - Parameter fill: reads the file into the buffer and returns the slice that is the body.
    init(_ fill: (inout nc_buf) -> nc_slice) {
        unsafe buffer = nc_buf_init(Int.max / 2)
        unsafe body = nc_slice()
        unsafe body = fill(&buffer)
    }

    deinit {
        unsafe nc_buf_deinit(&buffer)
    }

    var bodyCount: Int { unsafe body.length }

    func withBody<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe self.body.withSpan(body)
    }
}
