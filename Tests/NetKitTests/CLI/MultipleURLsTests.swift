import Testing

/// Several URLs, in parallel or in order, and the destinations of their bodies.
@Suite(.timeLimit(.minutes(5)))
struct MultipleURLsTests {
    private let server: LoopbackServer
    private let folder: TemporaryFolder

    init() throws {
        server = try LoopbackServer()
        server.script("/a", .text("first"))
        server.script("/b", .text("second"))
        server.script("/cut", Reply(patternLength: 1000, cutAfter: 300, ending: .close))
        server.script("/large", Reply(patternLength: 300_000, chunkBytes: 1000))
        folder = try TemporaryFolder()
    }

    @Test(arguments: [[], ["-Z"], ["--parallel"]])
    func bodiesAreNotInterleaved(words: [String]) async throws {
        let urls = ["/large", "/a", "/large", "/b"].map { server.url($0) }
        let outcome = try await nk(words + urls)
        #expect(outcome.code == 0 && outcome.errors == "")
        let pattern = (0..<300_000).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        #expect(outcome.bytes.count == 600_011)
        var rest = outcome.bytes[...]
        var found: [String] = []
        while !rest.isEmpty {
            for (name, body) in [("large", pattern), ("a", Array("first".utf8)), ("b", Array("second".utf8))]
            where rest.starts(with: body) {
                found.append(name)
                rest = rest.dropFirst(body.count)
            }
            if found.count > 4 || (found.isEmpty && !rest.starts(with: pattern)) {
                break
            }
        }
        #expect(found.sorted() == ["a", "b", "large", "large"])
        #expect(!words.isEmpty || found == ["large", "a", "large", "b"])
    }

    @Test func sequentialRequestsReuseOneConnection() async throws {
        #expect(try await nk(server.url("/a"), server.url("/b")).text == "firstsecond")
        #expect(server.connectionCount == 1)
    }

    @Test func parallelRequestsDoNotWaitForEachOther() async throws {
        server.script("/stalled", .stalled)
        async let outcome = nk(
            "-Z", "-o", folder.file("late"), "-o", folder.file("a"), server.url("/stalled"), server.url("/a"))
        try await server.waitForRequests(2)
        try await server.waitForStalled(1)
        server.releaseStalled()
        #expect(try await outcome.code == 0)
        #expect(folder.contents(of: "late") == Array("late".utf8))
        #expect(folder.contents(of: "a") == Array("first".utf8))
    }

    /// A file takes its body as fast as it arrives. A device or a pipe may not, and would delay the other streams.
    @Test(.enabled(if: ExternalServer.isInstalled("nghttpd"), "nghttpd is missing"))
    func bodiesOfFilesShareAnHTTP2Connection() async throws {
        let family = try GeneratedCertificates()
        let files = try TemporaryFolder()
        try files.write(family.certificate, to: "leaf.pem")
        try files.write(family.key, to: "leaf.key")
        try files.write(Array("small".utf8), to: "a")
        try folder.write(family.authority, to: "root.pem")
        let (served, key, certificate) = (files.path, files.file("leaf.key"), files.file("leaf.pem"))
        let server = try await ExternalServer.start { port in
            ["nghttpd", "--address=127.0.0.1", "-d", served, "\(port)", key, certificate]
        }
        let words = ["-sS", "-Z", "--cacert", folder.file("root.pem"), "-w", "%{http_version} %{num_connects}\n"]
        let urls = Array(repeating: "https://localhost:\(server.port)/a", count: 20)
        func openedConnections(_ outputs: [String]) async throws -> Int {
            let outcome = try await nk(words + outputs.flatMap { ["-o", $0] } + urls)
            #expect(outcome.code == 0 && outcome.lines.count == 20, "\(outcome.errors)")
            #expect(outcome.lines.allSatisfy { $0.hasPrefix("2 ") })
            return outcome.lines.reduce(0) { $0 + (Int($1.dropFirst(2)) ?? 100) }
        }
        let opened = try await openedConnections((1...20).map { folder.file("file\($0)") })
        // libcurl 8 opens several connections before it knows that the host supports HTTP/2.
        let waits = try await nk("--version").text.contains("libcurl/7.")
        #expect(opened <= (waits ? 1 : 6))
        #expect((1...20).allSatisfy { folder.contents(of: "file\($0)") == Array("small".utf8) })
        #expect(try await openedConnections(Array(repeating: "/dev/null", count: 20)) > 1)
    }

    @Test(arguments: [[], ["-Z"]])
    func failureDoesNotStopOthersAndSetsTheExitCode(words: [String]) async throws {
        let urls = ["/a", "/missing", "/cut", "/b"].map { server.url($0) }
        let outputs = ["1", "2", "3", "4"].flatMap { ["-o", folder.file($0)] }
        let outcome = try await nk(words + ["-f"] + outputs + urls)
        #expect(outcome.code == 22)
        #expect(outcome.errorLines.count == 2)
        #expect(outcome.errors.contains("nk: (22) ") && outcome.errors.contains("nk: (18) "))
        #expect(folder.names == ["1", "4"])
    }

    @Test(arguments: [[], ["-Z"]])
    func failureNamesItsURL(words: [String]) async throws {
        let bad = ["http:///a", "http:/b", "", server.url("/a b?hush", userinfo: "u:hush"), server.url("/missing")]
        let outcome = try await nk(words + ["-f"] + bad + [server.url("/a")])
        #expect(outcome.code == 3 && outcome.text == "first" && !outcome.errors.contains("hush"))
        let baseURL = "http://127.0.0.1:\(server.port)"
        let lines = outcome.errorLines.sorted()
        try #require(lines.count == 5)
        #expect(lines[0] == "nk: (22) HTTP 404 for \(baseURL)/missing")
        #expect(lines[1].hasPrefix("nk: (3) URL number 3: the URL is empty"))
        #expect(lines[2].hasPrefix("nk: (3) http:///a: "))
        #expect(lines[3].hasPrefix("nk: (3) \(baseURL)/a b: forbidden byte 0x20"))
        #expect(lines[4].hasPrefix("nk: (3) http:/b: "))
        let curl = try await nk("--curl", server.url("/a"), "http://u:hush/x@h/")
        #expect(curl.errorLines.first?.hasPrefix("nk: (3) http://h/: ") == true)
    }

    @Test func longNameLeavesAReadableErrorLine() async throws {
        let outcome = try await nk("http://h:1/" + String(repeating: "a", count: 9_000) + " b", "http:///")
        let lines = outcome.errorLines
        try #require(lines.count == 2)
        #expect(lines[0].hasPrefix("nk: (3) http://h:1/aaa") && lines[0].utf8.count < 400)
    }

    @Test func outputsBelongToTheURLsInOrder() async throws {
        let outcome = try await nk("-o", folder.file("x"), server.url("/a"), server.url("/b"))
        #expect(outcome.text == "second" && folder.contents(of: "x") == Array("first".utf8))
    }

    @Test(arguments: ["-O", "--remote-name"])
    func remoteNameUsesTheLastSegment(option: String) async throws {
        server.script("/dir/name%20x.txt", .text("body"))
        let words = [option, server.url("/dir/name%20x.txt?a=/b"), "-O", server.url("/a#/c")]
        let outcome = try await nk(words, folder: folder.path)
        #expect(outcome.code == 0 && outcome.bytes == [] && outcome.errors == "")
        #expect(folder.names == ["a", "name%20x.txt"])
    }

    @Test(arguments: ["", "/", "/dir/", "/..", "/a/.", "/.bashrc", "/.", "/a/..?x"])
    func invalidRemoteNameIsRefused(path: String) async throws {
        let outcome = try await nk(["-O", server.url(path, userinfo: "me:hush")], folder: folder.path)
        #expect(outcome.code == 23 && outcome.errorLines.count == 1)
        #expect(outcome.errors.hasPrefix("nk: (23) -O ") && !outcome.errors.contains("hush"))
        #expect(folder.names == [] && server.requestCount == 0)
    }

    @Test func everyURLCanUseItsRemoteName() async throws {
        let words = ["--remote-name-all", "-o", "x", server.url("/a"), server.url("/b")]
        #expect(try await nk(words, folder: folder.path).code == 0)
        #expect(folder.names == ["b", "x"] && folder.contents(of: "x") == Array("first".utf8))
    }

    @Test func outputFolderIsCreated() async throws {
        let words = ["--output-dir", "in/er", "-o", "x/y", "-O", "-o", "-"]
        let urls = [server.url("/a"), server.url("/b"), server.url("/a")]
        let outcome = try await nk(words + urls, folder: folder.path)
        #expect(outcome.code == 23 && outcome.text == "first" && outcome.errorLines.count == 2)
        #expect(outcome.errors.contains("cannot write to in/er/x/y: No such file or directory"))
        #expect(try await nk(words + ["--create-dirs"] + urls, folder: folder.path).code == 0)
        #expect(folder.contents(of: "in/er/x/y") == Array("first".utf8))
        #expect(folder.contents(of: "in/er/b") == Array("second".utf8))
        let download = ["--create-dirs", "--output-dir", "far/", "-O", "-J", "--no-clobber", server.url("/a")]
        #expect(try await nk(download, folder: folder.path).code == 0)
        #expect(folder.contents(of: "far/a") == Array("first".utf8))
    }

    @Test func foldersAreCreatedForTheHead() async throws {
        let words = ["-D", "in/er/head", server.url("/a")]
        #expect(try await nk(words, folder: folder.path).code == 23)
        #expect(try await nk(["--create-dirs"] + words, folder: folder.path).code == 0)
        #expect(folder.contents(of: "in/er/head")?.starts(with: Array("HTTP/1.1 200".utf8)) == true)
    }

    @Test func foldersAreCreatedOnlyForReceivedFiles() async throws {
        let words = ["--create-dirs", "-o", "x/y", "http://127.0.0.1:1/"]
        #expect(try await nk(words, folder: folder.path).code == 7)
        #expect(folder.names == [])
    }

    @Test func remoteNameLeavesNoPartialFile() async throws {
        #expect(try await nk(["-O", server.url("/cut")], folder: folder.path).code == 18)
        #expect(folder.names == [])
    }

    @Test(arguments: [SIGTERMNumber, SIGINTNumber, SIGQUITNumber])
    func signalLeavesNoPartialFile(number: Int32) async throws {
        server.script("/half", Reply(patternLength: 1_000_000, cutAfter: 500_000, ending: .stall))
        let run = try start(["-o", folder.file("half"), server.url("/half")])
        try await server.waitForStalled(1)
        run.send(number)
        let outcome = await run.ended()
        #expect(outcome.code == -number && outcome.errors == "")
        #expect(folder.names == [])
    }
}
