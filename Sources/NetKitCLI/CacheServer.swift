#if Redis
import NetKit
import NetKitRedis

/// A cache on a Redis server: its URL, with the prefix of the keys in the query.
struct CacheServer: Sendable {
    /// A client of the server, which connects in the background.
    struct Connection {
        fileprivate let server: CacheServer
        fileprivate let client: RedisClient

        /// Returns the store after the server has answered. If it does not answer, the failure has the reason.
        func store() async throws(Failure) -> RedisCacheStore {
            do throws(NetError) {
                try await client.ping()
                return RedisCacheStore(client)
            } catch {
                throw CacheServer.failure(error, " at \(server.shown)")
            }
        }
    }

    /// The prefix of the keys if the URL has none. It is not the library's, because nk's entries are its own.
    private static let defaultPrefix = "nk"
    private static let prefixName = "prefix="
    /// The time limit of a lookup. It is longer than the library's, because the server may be far away.
    private static let timeLimit = Duration.seconds(5)

    /// The URL without the prefix. It may contain a password.
    private let url: String
    private let prefix: String

    /// Parses a URL. Only its prefix and its delimiters are checked; ``open()`` checks the rest.
    init(_ text: String, of name: String) throws(UsageError) {
        // Without this check, a part of the password would be the host, which messages contain.
        if !text.lowercased().hasPrefix("unix:"), URLText(text).rest.contains("@") {
            throw UsageError("\(name): write '/', '?' and '#' in a password as %2F, %3F and %23")
        }
        let parts = text.cut(atFirst: "?")
        let terms = (parts?.after ?? "").split(separator: "&").map(String.init)
        let others = terms.filter { !$0.hasPrefix(Self.prefixName) }
        url = (parts?.before ?? text) + (others.isEmpty ? "" : "?" + others.joined(separator: "&"))
        prefix =
            terms.last { $0.hasPrefix(Self.prefixName) }.map { String($0.dropFirst(Self.prefixName.count)) }
            ?? Self.defaultPrefix
    }

    /// The URL for messages, without user, password and query.
    private var shown: String { URLText(url).shown }

    /// Opens a client. If there is a user without a password, prompts for the password.
    func open() throws(Failure) -> Connection {
        let password = try password()
        do throws(NetError) {
            let client = try RedisClient(url, prefix: prefix, password: password, timeLimit: Self.timeLimit)
            return Connection(server: self, client: client)
        } catch {
            throw Self.failure(error, "")
        }
    }

    /// Returns the password of the environment or the prompt. It is empty if the URL has one, or if there is none.
    private func password() throws(Failure) -> String {
        let login = URLText(url).login.map { OptionValue.login($0) }
        if login?.password != nil {
            return ""
        }
        if let password = ProcessSetup.variable("REDISCLI_AUTH"), !password.isEmpty {
            return password
        }
        guard let user = login?.user, !user.isEmpty else { return "" }
        let name = Verbose.printable(Percent.decoded(user))
        guard let password = Password.read("Password for \(name) at \(shown): ") else {
            throw Failure(
                ExitCode.usage, "no password for \(name), and no terminal to prompt for it; set REDISCLI_AUTH")
        }
        return password
    }

    /// Returns the failure for an error of the client. The exit code follows from the code alone: the native code is a
    /// number of the system, not of libcurl.
    private static func failure(_ error: NetError, _ location: String) -> Failure {
        Failure(ExitCode.of(NetError(error.code, "")), "cannot use the cache\(location): \(error.message)")
    }
}
#endif
