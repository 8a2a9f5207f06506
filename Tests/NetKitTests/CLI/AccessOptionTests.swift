#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif
import Testing

@testable import NetKitCLI

/// Options for credentials: names and passwords, cookies, certificates.
@Suite(.timeLimit(.minutes(5)))
struct AccessOptionTests {
    private let server: LoopbackServer
    private let folder: TemporaryFolder

    init() throws {
        server = try LoopbackServer()
        server.script("*", .text("ok"))
        folder = try TemporaryFolder()
    }

    private func received(_ words: [String], path: String = "/", home: String? = nil) async throws -> ReceivedRequest {
        let outcome = try await nk(words + [server.url(path)], home: home)
        #expect(outcome.code == 0 && outcome.text == "ok" && outcome.errors == "")
        return server.received()
    }

    // MARK: Names and passwords

    @Test(arguments: [["-u", "me:pass:word"], ["--user", "me:pass:word"], ["-ume:pass:word"]])
    func userSendsNameAndPasswordPreemptively(words: [String]) async throws {
        #expect(try await received(words).values(named: "Authorization") == ["Basic bWU6cGFzczp3b3Jk"])
    }

    @Test func userOverridesTheURL() async throws {
        #expect(try await nk("-u", "me:", server.url("/", userinfo: "a:b")).code == 0)
        #expect(server.received().values(named: "Authorization") == ["Basic bWU6"])
    }

    @Test(arguments: [["-u", "me:hush"], []])
    func digestRespondsToAChallenge(words: [String]) async throws {
        let challenge = "WWW-Authenticate: Digest realm=\"here\", nonce=\"n1\", qop=\"auth\", algorithm=SHA-256"
        server.script("/d", [Reply(status: 401, headers: [challenge]), .text("in")])
        let url = server.url("/d", userinfo: words.isEmpty ? "me:hu%73h" : nil)
        let outcome = try await nk(["-v", "--digest"] + words + [url])
        #expect(outcome.code == 0 && outcome.text == "in" && !outcome.errors.contains("hush"))
        let response = server.received(1).values(named: "Authorization").first ?? ""
        #expect(response.hasPrefix("Digest username=\"me\",") && response.contains("nonce=\"n1\""))
        #expect(!response.contains("hush"))
    }

    @Test func tokenIsSentPreemptivelyAndOverridesUser() async throws {
        let words = ["-v", "--oauth2-bearer", "hush"]
        let ways = [
            ([], ["Bearer hush"]), (["-u", "me:x"], ["Bearer hush"]), (["-H", "Authorization: Own x"], ["Own x"]),
            (["-H", "Authorization:"], []),
        ]
        for (index, (more, expected)) in ways.enumerated() {
            let outcome = try await nk(words + more + [server.url("/", userinfo: index == 0 ? "a:b" : nil)])
            #expect(outcome.code == 0 && !outcome.errors.contains("hush"))
            #expect(server.received(index).values(named: "Authorization") == expected)
        }
    }

    @Test(arguments: ["-n", "--netrc"])
    func netrcIsReadFromHome(option: String) async throws {
        try folder.write(Array("machine 127.0.0.1 login me password hush\n".utf8), to: ".netrc", mode: 0o600)
        let request = try await received([option], home: folder.path)
        #expect(request.values(named: "Authorization") == ["Basic bWU6aHVzaA=="])
        server.forgetRequests()
        #expect(try await received([], home: folder.path).values(named: "Authorization").isEmpty)
    }

    @Test(arguments: [["--netrc-file"], ["-n", "--netrc-file"]])
    func netrcFileCanBeChosen(words: [String]) async throws {
        try folder.write(Array("machine 127.0.0.1 login me password hush\n".utf8), to: "logins", mode: 0o600)
        let request = try await received(words + [folder.file("logins")], home: folder.path)
        #expect(request.values(named: "Authorization") == ["Basic bWU6aHVzaA=="])
        let line = try await nk("--curl", "--netrc-file", "logins", server.url("/")).text
        #expect(line.contains(" --netrc-file logins"))
    }

    @Test(arguments: ["machine 127.0.0.1 login \"me password hush\n", "machine \"127.0.0.1\n"])
    func unreadableNetrcFileIsNamed(text: String) async throws {
        try folder.write(Array(text.utf8), to: ".netrc", mode: 0o600)
        let outcome = try await nk(["-n", server.url("/")], home: folder.path)
        if outcome.code == 0 {  // libcurl 8.14 ignores it.
            #expect(server.received().values(named: "Authorization").isEmpty)
        } else {
            #expect(outcome.code == 26 && outcome.errorLines.count == 1 && server.requestCount == 0)
            #expect(outcome.errors.contains("netrc") && !outcome.errors.contains("hush"))
        }
    }

    @Test(arguments: ["-u", "-U"])
    func emptyUserIsRefusedWithoutAPasswordPrompt(option: String) async throws {
        let outcome = try await nk(option, "", server.url("/"))
        #expect(outcome.code == 2 && server.requestCount == 0)
        #expect(outcome.errorLines == ["nk: (2) \(option) is empty: use NAME:PASSWORD"])
        #expect(try await nk(option, ":", server.url("/")).code == 0)
    }

    @Test func netrcPasswordIsNotSentInPlaintextWithDigest() async throws {
        try folder.write(Array("machine 127.0.0.1 login me password hush\n".utf8), to: ".netrc", mode: 0o600)
        let outcome = try await nk(["-n", "--digest", server.url("/")], home: folder.path)
        #expect(outcome.code == 2 && outcome.errors.contains("use -u with --digest") && server.requestCount == 0)
        let request = try await received(["-n", "--digest", "-u", "you:there"], home: folder.path)
        #expect(request.values(named: "Authorization").isEmpty)
    }

    // MARK: Cookies

    @Test(arguments: ["-b", "--cookie"])
    func cookiesAreSentAsGiven(option: String) async throws {
        let request = try await received([option, "a=1; b=2", option, "c=3"])
        #expect(request.values(named: "Cookie") == ["a=1; b=2; c=3"])
    }

    @Test(arguments: ["-c", "--cookie-jar"])
    func cookieJarIsOwnerOnly(option: String) async throws {
        server.script("/set", Reply(headers: ["Set-Cookie: id=hush; Path=/", "Set-Cookie: k=v; Max-Age=4000000"]))
        try folder.write(Array("old".utf8), to: "jar", mode: 0o644)
        #expect(try await nk(option, folder.file("jar"), server.url("/set")).code == 0)
        #expect(folder.mode(of: "jar") & 0o777 == 0o600)
        #expect(folder.names == ["jar"])
        let text = String(decoding: folder.contents(of: "jar") ?? [], as: UTF8.self)
        #expect(text.hasPrefix("# Netscape HTTP Cookie File\n"))
        #expect(text.contains("127.0.0.1\tFALSE\t/\tFALSE\t0\tid\thush\n") && text.contains("\tk\tv\n"))
        #expect(try await received(["-b", folder.file("jar")]).values(named: "Cookie").isEmpty)
        let cookies = server.received(1).values(named: "Cookie")
        #expect(cookies == ["k=v; id=hush"] || cookies == ["id=hush; k=v"])
    }

    @Test func cookiesOfOneURLAreSentToTheNext() async throws {
        server.script("/set", Reply(headers: ["Set-Cookie: id=1; Path=/"], body: Array("1".utf8)))
        #expect(try await nk("-b", "", "-c", folder.file("jar"), server.url("/set"), server.url("/")).text == "1ok")
        #expect(server.received(1).values(named: "Cookie") == ["id=1"])
    }

    @Test(arguments: [
        ("no cookie\n", "1 line of "), ("HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\n\r\n", "2 lines of "),
    ])
    func invalidLineDoesNotDiscardOtherCookies(foreign: String, warning: String) async throws {
        let good = "# a comment\n\n127.0.0.1\tFALSE\t/\tFALSE\t4102444800\tk\tv\n"
        try folder.write(Array((foreign + good).utf8), to: "jar", mode: 0o600)
        let outcome = try await nk("-b", folder.file("jar"), server.url("/"))
        #expect(outcome.code == 0 && server.received().values(named: "Cookie") == ["k=v"])
        #expect(outcome.errorLines.count == 1 && outcome.errors.contains(warning + folder.file("jar")))
    }

    /// curl also ignores blanks at the start of a line.
    @Test func leadingBlanksDoNotDiscardACookie() async throws {
        let lines = ["  ", " \t#HttpOnly_", ". "].enumerated().map { number, front in
            "\(front)127.0.0.1\tFALSE\t/\tFALSE\t4102444800\tk\(number)\tv\n"
        }
        let jar = folder.file("jar")
        try folder.write(Array(lines.joined().utf8), to: "jar", mode: 0o600)
        let outcome = try await nk("-b", jar, "-c", jar, server.url("/"))
        let sent = server.received().values(named: "Cookie").joined().split(separator: "; ")
        #expect(outcome.code == 0 && sent.sorted() == ["k0=v", "k1=v"])
        #expect(outcome.errorLines.count == 1 && outcome.errors.hasPrefix("nk: warning: ignored 1 line of \(jar): "))
        let text = String(decoding: folder.contents(of: "jar") ?? [], as: UTF8.self)
        #expect(text.contains("\n127.0.0.1\tFALSE\t/\tFALSE\t4102444800\tk0\tv\n"))
    }

    @Test(arguments: ["-j", "--junk-session-cookies"])
    func sessionCookiesCanBeExcluded(option: String) async throws {
        let lines = ["0\ts\t1", "4102444800\tk\tv"].map { "127.0.0.1\tFALSE\t/\tFALSE\t\($0)\n" }
        try folder.write(Array(lines.joined().utf8), to: "jar", mode: 0o600)
        #expect(try await received([option, "-b", folder.file("jar")]).values(named: "Cookie") == ["k=v"])
    }

    @Test func atSignReadsCookiesFromAFile() async throws {
        try folder.write(Array("127.0.0.1\tFALSE\t/\tFALSE\t4102444800\tk\tv\n".utf8), to: "a=b", mode: 0o600)
        let outcome = try await nk("-b", "@" + folder.file("a=b"), server.url("/"))
        #expect(outcome.code == 0 && outcome.errors == "")
        #expect(server.received().values(named: "Cookie") == ["k=v"])
    }

    @Test func aMissingCookieFileIsAWarning() async throws {
        let outcome = try await nk("-b", folder.file("none"), server.url("/"))
        #expect(outcome.code == 0 && outcome.text == "ok")
        #expect(outcome.errorLines.count == 1 && outcome.errors.contains(folder.file("none")))
        #expect(try await nk("-b", folder.file("j"), "-c", folder.file("j"), server.url("/")).errors == "")
    }

    @Test func unwritableJarExitsWith23() async throws {
        let outcome = try await nk("-c", folder.file("none/jar"), server.url("/"))
        #expect(outcome.code == 23 && outcome.text == "ok" && outcome.errorLines.count == 1)
    }

    /// A cookie file is rewritten at the end, which would lose what cannot be read.
    @Test(arguments: ["large", "loop", "folder"])
    func unreadableJarIsNotOverwritten(kind: String) async throws {
        let jar = folder.file("jar")
        switch kind {
        case "large":
            try folder.write([], to: "jar")
            try #require(unsafe truncate(jar, off_t(InputFile.maxDocumentBytes) + 1) == 0)
        case "loop":
            try folder.link("jar", to: "jar")
        default:
            try #require(unsafe mkdir(jar, 0o700) == 0)
        }
        defer { unsafe rmdir(jar) }
        let before = folder.mode(of: "jar")
        let outcome = try await nk("-b", jar, "-c", jar, server.url("/"))
        #expect(outcome.code == 26 && outcome.bytes == [] && server.requestCount == 0)
        #expect(outcome.errorLines.count == 1 && outcome.errors.hasPrefix("nk: (26) cannot read "))
        #expect(outcome.errors.contains(jar))
        #expect(folder.mode(of: "jar") == before && folder.names == ["jar"])
    }

    @Test func oversizedJarIsNotOverwritten() async throws {
        let value = String(repeating: "v", count: 6 << 20)
        let text = (1...3).map { "h\($0).test\tFALSE\t/\tFALSE\t4102444800\tk\t\(value)\n" }.joined()
        let jar = folder.file("jar")
        try folder.write(Array(text.utf8), to: "jar", mode: 0o600)
        let outcome = try await nk("-b", jar, "-c", jar, server.url("/"))
        #expect(outcome.code == 26 && outcome.bytes == [] && server.requestCount == 0)
        #expect(outcome.errorLines.count == 1 && outcome.errors.hasPrefix("nk: (26) cannot read \(jar): "))
        #expect(folder.contents(of: "jar")?.count == text.utf8.count)
    }

    @Test func jarIsRecognizedByAnotherPath() async throws {
        try folder.write([], to: "jar")
        try #require(unsafe truncate(folder.file("jar"), off_t(InputFile.maxDocumentBytes) + 1) == 0)
        let outcome = try await nk(["-b", "./jar", "-c", "jar", server.url("/")], folder: folder.path)
        #expect(outcome.code == 26 && outcome.errorLines.count == 1 && server.requestCount == 0)
        // If the unreadable file is not the one to write, it is only a warning.
        let other = try await nk(["-b", "jar", "-c", "new", server.url("/")], folder: folder.path)
        #expect(other.code == 0 && other.text == "ok" && other.errors.contains("cannot read cookies from jar"))
        #expect(folder.names == ["jar", "new"])
    }

    @Test func jarBehindASymbolicLinkIsRefused() async throws {
        server.script("/set", Reply(headers: ["Set-Cookie: id=1; Path=/"]))
        try folder.link("jar", to: "real")
        let outcome = try await nk("-b", folder.file("jar"), "-c", folder.file("jar"), server.url("/set"))
        #expect(outcome.code == 26 && outcome.errors.contains("symbolic link"))
        #expect(folder.names == ["jar"] && server.requestCount == 0)
    }

    // MARK: Certificates

    @Test func clientCertificateAndKeyAreSent() async throws {
        let secure = try LoopbackServer(.valid, requiresClientCertificate: true)
        secure.script("/", .text("known"))
        try secure.writeClientIdentity(to: folder.path)
        let words = ["-k", "--cert", folder.file("cert.pem"), "--key", folder.file("key.pem"), secure.url("/")]
        #expect(try await nk(words).text == "known")
        #expect(secure.clientCertificateCount == 1)
        let both = (folder.contents(of: "cert.pem") ?? []) + (folder.contents(of: "key.pem") ?? [])
        try folder.write(both, to: "a:b.pem")
        #expect(try await nk("-k", "-E", folder.path + "/a\\:b.pem:unused", secure.url("/")).text == "known")
    }

    @Test func missingCertificateExitsWith58() async throws {
        let secure = try LoopbackServer(.valid, requiresClientCertificate: true)
        let outcome = try await nk("-k", "--cert", folder.file("none") + ":hush", secure.url("/"))
        #expect(outcome.code == 58 && outcome.errorLines.count == 1 && !outcome.errors.contains("hush"))
        #expect(secure.requestCount == 0)
    }
}
