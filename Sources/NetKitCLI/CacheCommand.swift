import NetKit
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `nk cache`: shows and removes the entries of a cache, in a directory or on a Redis server.
enum CacheCommand {
    static let help = """
        Usage: nk cache list CACHE        list name, bytes, age, status and URL
               nk cache show CACHE NAME   print an entry: its key, headers and body
               nk cache rm CACHE NAME... | --all | --host HOST | --tag TAG
               nk cache stats CACHE       print the number of entries and their size
               nk cache verify DIR        check every entry; remove damaged and
                                          leftover files

        CACHE is a directory or a Redis server: redis://[USER@]HOST[:PORT][/DB],
        rediss:// (TLS) or unix:///SOCKET[?db=DB]. Its entries are those of nk, or
        with ?prefix=NAME those of NAME. REDISCLI_AUTH contains its password.
        NAME is a name from list, or its first digits if they are unique.
        Exit code: 0 success, 1 damage found or no such NAME, 2 usage,
        26 no such directory; for a server as for a URL: 6 host, 7 connection,
        28 time, 94 password.

        """

    static func run(_ words: ArraySlice<String>) async -> Int32 {
        if words.contains("-h") || words.contains("--help") {
            return Command.show(help)
        }
        do throws(Failure) {
            let output = try await output(Array(words))
            return Command.show(output.text, output.body)
        } catch {
            return Command.complain(error)
        }
    }

    private static func output(_ words: [String]) async throws(Failure) -> (text: String, body: Bytes) {
        guard words.count >= 2, ["list", "show", "rm", "stats", "verify"].contains(words[0]) else {
            throw Failure(ExitCode.usage, "cache needs an action and a cache; see nk cache --help")
        }
        let rest = Array(words.dropFirst(2))
        if rest.isEmpty != ["list", "stats", "verify"].contains(words[0]) {
            throw Failure(ExitCode.usage, "wrong arguments for cache \(words[0]); see nk cache --help")
        }
        let store = try await store(at: words[1])
        do {
            switch words[0] {
            case "list": return (try await list(store), [])
            case "show": return try await show(try await entry(rest, in: store), in: store)
            case "rm": return (try await remove(rest, from: store), [])
            case "stats": return (try await stats(store), [])
            default: return (try await verified(store), [])
            }
        } catch {
            throw error as? Failure ?? (error as? NetError).map { Failure($0) } ?? Failure(1, "\(error)")
        }
    }

    /// Opens the store. Throws an error if the server does not answer, or if the directory does not exist, so that it
    /// is not created.
    private static func store(at location: String) async throws(Failure) -> any CacheStore {
        let parsed: CacheLocation
        do throws(UsageError) {
            parsed = try CacheLocation(location, of: "cache")
        } catch {
            throw Failure(error.exitCode, error.message)
        }
        switch parsed {
        #if Redis
        case .server(let server): return try await server.open().store()
        #endif
        case .directory(let path):
            var isFolder = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder else {
                throw Failure(ExitCode.read, "no such directory: \(path)")
            }
            return DiskCacheStore(directory: path)
        }
    }

    // MARK: Listing

    private static func responses(in store: any CacheStore) async throws(NetError) -> [(
        CacheListing, CachedResponseHead
    )] {
        try await store.list().compactMap { listing in listing.entry.cachedResponseHead.map { (listing, $0) } }
            .sorted { ($0.1.receivedEpochSeconds, $0.0.key.name) > ($1.1.receivedEpochSeconds, $1.0.key.name) }
    }

    private static func list(_ store: any CacheStore) async throws(NetError) -> String {
        let now = Date().timeIntervalSince1970
        var text = ""
        for (listing, head) in try await responses(in: store) {
            let age = Format.clock(.seconds(Int64(max(0, now - head.receivedEpochSeconds))))
            let columns = [
                listing.key.name, Format.right(String(listing.bodyBytes), 9), Format.right(age, 7), String(head.status),
                Verbose.shown(url: head.url),
            ]
            text += columns.joined(separator: "  ") + "\n"
        }
        return text
    }

    private static func entry(_ names: [String], in store: any CacheStore) async throws -> CacheListing {
        guard names.count == 1 else {
            throw Failure(ExitCode.usage, "cache show needs exactly one name; see nk cache list")
        }
        return try await named(names[0], in: store)
    }

    private static func named(_ name: String, in store: any CacheStore) async throws -> CacheListing {
        let listings = try await store.list().filter { !name.isEmpty && $0.key.name.hasPrefix(name) }
        guard let listing = listings.first, listings.count == 1 else {
            throw Failure(
                1,
                listings.isEmpty
                    ? "no entry named '\(name)'; see nk cache list"
                    : "'\(name)' matches several entries; type more digits")
        }
        return listing
    }

    private static func show(_ listing: CacheListing, in store: any CacheStore) async throws -> (
        text: String, body: Bytes
    ) {
        guard let entry = try await store.entry(for: listing.key), let head = entry.cachedResponseHead else {
            throw Failure(1, "\(listing.key.name) is not a response, or was just removed")
        }
        let key = listing.key.explanation.split(separator: "\n").map { "# \(Verbose.shown(url: String($0)))\n" }
            .joined()
        let made = Date(timeIntervalSince1970: head.receivedEpochSeconds).formatted(.iso8601)
        let versions = "# received \(made)\n# version \(head.version)\n"
        let app = head.appVersion.isEmpty ? "" : "# app version \(Verbose.printable(head.appVersion))\n"
        let output = Bytes(Output.head(head.httpVersion, head.status, head.headers) + Array(entry.body))
        return (key + versions + app, output)
    }

    // MARK: Removal

    private static func remove(_ words: [String], from store: any CacheStore) async throws -> String {
        let count: Int
        switch (words[0], words.count) {
        case ("--all", 1): count = try await store.removeAll(.all)
        case ("--host", 2): count = try await store.removeAll(.host(words[1]))
        case ("--tag", 2): count = try await store.removeAll(.tagged(words[1]))
        case _ where words.contains { $0.hasPrefix("-") }:
            throw Failure(ExitCode.usage, "cache rm needs names, --all, --host HOST or --tag TAG")
        default:
            var removed = 0
            for word in words {
                removed += try await store.remove(try await named(word, in: store).key) ? 1 : 0
            }
            count = removed
        }
        return "removed \(count)\n"
    }

    // MARK: Statistics

    private static func stats(_ store: any CacheStore) async throws(NetError) -> String {
        let usage = try await store.usage()
        let text = "entries  \(usage.entries)\nbytes    \(usage.bytes)\n"
        // The limit of a Redis server is a setting of the server.
        return store is DiskCacheStore ? text + "limit    \(usage.maximumBytes)\n" : text
    }

    private static func verified(_ store: any CacheStore) async throws -> String {
        guard let report = try await (store as? DiskCacheStore)?.verify() else {
            throw Failure(ExitCode.usage, "cache verify needs a directory; entries in Redis are checked when read")
        }
        let text = """
            good       \(report.good)
            damaged    \(report.damaged)
            expired    \(report.expired)
            locked     \(report.locked)
            leftovers  \(report.leftovers)
            foreign    \(report.foreign)

            """
        if report.damaged > 0 {
            _ = Command.show(text)
            throw Failure(1, "\(report.damaged) damaged files were removed")
        }
        return text
    }
}
