import NetKit

/// The place of a cache: a directory, or a Redis server.
enum CacheLocation: Sendable {
    case directory(String)
    #if Redis
    case server(CacheServer)
    #endif

    /// Parses a path or the URL of a server. Messages do not contain the text, because a URL may have a password.
    ///
    /// - Parameter name: the option or command, for messages.
    init(_ text: String, of name: String) throws(UsageError) {
        if text.isEmpty {
            throw UsageError("\(name) needs a directory, or the URL of a Redis server")
        }
        guard Self.isURL(text) else {
            self = .directory(text)
            return
        }
        guard ["redis", "rediss", "unix"].contains(text.cut(atFirst: ":")?.before.lowercased()) else {
            throw UsageError("\(name): the URL of a cache begins with redis://, rediss:// or unix://")
        }
        #if Redis
        self = .server(try CacheServer(text, of: name))
        #else
        throw UsageError("\(name): this nk was built without Redis; build it with --traits Redis")
        #endif
    }

    /// Whether the text is a URL. A directory's path contains "://" only by mistake.
    static func isURL(_ text: String) -> Bool { text.contains("://") }
}
