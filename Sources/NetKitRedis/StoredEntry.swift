#if Redis
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import NetKit

/// An entry as the server keeps it: a hash with the fields "h" (head), "t" (names of the sets that it is in) and "b"
/// (body). Head and body are sealed; see ``Seal``. The head belongs to the key's name and the sets, the body to a
/// random number in the head, so that fields of different entries or versions cannot be combined.
struct StoredEntry {
    let head: Bytes
    let body: Bytes

    /// Encodes an entry. Its creation time must be set.
    init(_ entry: CacheEntry, for key: CacheKey, name: String, sets: String, _ seal: Seal) throws(NetError) {
        let link = UInt64.random(in: 0 ... .max)
        var writer = ByteWriter()
        writer.append(Bytes(key.description))
        writer.append(link)
        writer.append(UInt64(entry.body.count))
        writer.append(entry.created.map { $0.milliseconds } ?? 0)
        writer.append(entry.lifetimeMilliseconds ?? -1)
        writer.append(entry.host)
        writer.append(entry.metadata)
        writer.append(UInt32(entry.tags.count))
        for tag in entry.tags.sorted() {
            writer.append(tag)
        }
        head = try seal.closed(writer.bytes, Bytes("head:\(name):\(sets)"))
        body = try seal.closed(entry.body, Bytes("body:\(name):\(link)"))
    }

    /// Decodes the head of an entry. Returns `nil` if it is damaged.
    static func listing(_ head: Bytes, name: String, sets: String, _ seal: Seal) -> (CacheListing, link: UInt64)? {
        guard let plain = seal.opened(head, Bytes("head:\(name):\(sets)")) else { return nil }
        var reader = ByteReader(plain)
        guard let key = reader.piece(), let link: UInt64 = reader.number(), let bodyBytes: UInt64 = reader.number(),
            let created: Int64 = reader.number(), let lifetime: Int64 = reader.number(), let host = reader.text(),
            let metadata = reader.piece(), let tagCount: UInt32 = reader.number()
        else { return nil }
        var tags: Set<String> = []
        for _ in 0..<tagCount {
            guard let tag = reader.text() else { return nil }
            tags.insert(tag)
        }
        let entry = CacheEntry(
            body: [], metadata: metadata, host: host, tags: tags,
            lifetime: lifetime < 0 ? nil : .milliseconds(lifetime),
            created: Date(timeIntervalSince1970: Double(created) / 1000))
        let listing = CacheListing(
            key: CacheKey(description: [UInt8](key)), entry: entry, bodyBytes: Int(clamping: bodyBytes))
        return (listing, link)
    }

    /// Decodes an entry. Returns `nil` if it is damaged or belongs to another key.
    static func entry(
        _ head: Bytes, _ body: Bytes, for key: CacheKey, name: String, sets: String, _ seal: Seal
    ) -> CacheEntry? {
        guard let (listing, link) = listing(head, name: name, sets: sets, seal), listing.key == key,
            let plain = seal.opened(body, Bytes("body:\(name):\(link)")), plain.count == listing.bodyBytes
        else { return nil }
        var entry = listing.entry
        entry.body = plain
        return entry
    }
}

extension CacheEntry {
    /// The lifetime in whole milliseconds; `nil` without a limit.
    var lifetimeMilliseconds: Int64? {
        lifetime.map { Int64(max(0, min($0 / .milliseconds(1), 0x1p62))) }
    }

    /// The remaining lifetime in milliseconds; `nil` without a limit, 0 if it has ended or has not begun.
    func remainingMilliseconds(at now: Date) -> Int64? {
        guard let lifetime = lifetimeMilliseconds, let created else { return nil }
        let age = now.milliseconds - created.milliseconds
        return age < 0 ? 0 : max(0, lifetime - age)
    }
}

extension Date {
    /// Milliseconds since 1970, rounded down. A date that was created from whole milliseconds may be slightly less,
    /// therefore 0.001 is added.
    var milliseconds: Int64 {
        Int64(max(-0x1p53, min(timeIntervalSince1970 * 1000 + 0.001, 0x1p53)).rounded(.down))
    }
}
#endif
