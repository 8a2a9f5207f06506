import Testing

/// Output files appear complete or not at all.
@Suite(.timeLimit(.minutes(5)))
struct OutputFileTests {
    private let server: LoopbackServer
    private let folder: TemporaryFolder

    init() throws {
        server = try LoopbackServer()
        folder = try TemporaryFolder()
        server.script("/", .text("new"))
        server.script("/cut", Reply(patternLength: 1000, cutAfter: 300, ending: .close))
    }

    @Test(arguments: [["-o", "FILE"], ["--output", "FILE"], ["-oFILE"], ["-sSfo", "FILE"]])
    func bodyIsWrittenToTheFile(words: [String]) async throws {
        let words = words.map { $0.hasSuffix("FILE") ? $0.dropLast(4) + folder.file("out") : $0 }
        let outcome = try await nk(words + [server.url("/")])
        #expect(outcome.code == 0 && outcome.bytes == [] && outcome.errors == "")
        #expect(folder.contents(of: "out") == Array("new".utf8))
        #expect(folder.names == ["out"])
    }

    @Test func dashMeansStandardOutput() async throws {
        #expect(try await nk("-o", "-", server.url("/")).text == "new")
    }

    @Test func longestFileNameIsWritten() async throws {
        let name = String(repeating: "n", count: 255)
        #expect(try await nk("-o", folder.file(name), server.url("/")).code == 0)
        #expect(folder.names == [name])
    }

    #if os(Linux)
    @Test func nameStartingWithACombiningMarkStaysInItsFolder() async throws {
        // The temporary file is created in the same directory. The parent directory is not writable.
        let words = ["-o", "/proc/self/cwd/\u{301}n", server.url("/")]
        #expect(try await nk(words, folder: folder.path).code == 0)
        #expect(folder.names == ["\u{301}n"])
    }
    #endif

    @Test func unmodifiedFileIsNotRewritten() async throws {
        server.script("/same", Reply(status: 304))
        try folder.write(Array("kept".utf8), to: "out")
        let words = ["-H", "If-None-Match: \"1\"", "-o", folder.file("out"), server.url("/same")]
        #expect(try await nk(words).code == 0)
        #expect(folder.contents(of: "out") == Array("kept".utf8))
        #expect(try await nk(["-o", folder.file("new"), server.url("/same")]).code == 0)
        #expect(folder.names == ["out"])
        #expect(try await nk(["-i"] + words).code == 0)
        #expect(folder.contents(of: "out") == Array("HTTP/1.1 304 \r\n\r\n".utf8))
    }

    @Test func anEmptyBodyMakesAnEmptyFile() async throws {
        server.script("/empty", Reply(status: 204))
        #expect(try await nk("-o", folder.file("out"), server.url("/empty")).code == 0)
        #expect(folder.contents(of: "out") == [])
    }

    @Test func headIsWrittenToTheFile() async throws {
        #expect(try await nk("-i", "-o", folder.file("out"), server.url("/")).bytes == [])
        let text = String(decoding: folder.contents(of: "out") ?? [], as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 200 \r\n") && text.hasSuffix("\r\n\r\nnew"))
    }

    @Test func aFileKeepsItsModeWhenItIsReplaced() async throws {
        try folder.write(Array("old and longer".utf8), to: "out", mode: 0o600)
        #expect(try await nk("-o", folder.file("out"), server.url("/")).code == 0)
        #expect(folder.contents(of: "out") == Array("new".utf8))
        #expect(folder.mode(of: "out") & 0o777 == 0o600)
    }

    @Test func symbolicLinkIsPreserved() async throws {
        try folder.write(Array("old".utf8), to: "real")
        try folder.link("out", to: "real")
        #expect(try await nk("-o", folder.file("out"), server.url("/")).code == 0)
        #expect(folder.contents(of: "real") == Array("new".utf8))
        #expect(folder.mode(of: "out") & 0o170000 == 0o120000)
        #expect(folder.names == ["out", "real"])
    }

    @Test(arguments: [["real"], ["./next", "real"], ["FOLDER/next", "real"]])
    func danglingLinkCreatesItsTarget(targets: [String]) async throws {
        for (name, target) in zip(["out", "next"], targets) {
            let target = target.hasPrefix("FOLDER/") ? folder.file(String(target.dropFirst(7))) : target
            try folder.link(name, to: target)
        }
        let words = ["-o", folder.file("out")]
        #expect(try await nk(words + [server.url("/cut")]).code == 18)
        #expect(folder.contents(of: "real") == nil)
        #expect(try await nk(words + [server.url("/")]).code == 0)
        #expect(folder.contents(of: "real") == Array("new".utf8))
        #expect(folder.mode(of: "out") & 0o170000 == 0o120000)
        #expect(folder.names.count == targets.count + 1)
    }

    @Test func unresolvableLinkIsNamed() async throws {
        try folder.link("loop", to: "loop")
        try folder.link("astray", to: "none/real")
        for (name, reason) in [("loop", "Too many levels of symbolic links"), ("astray", "No such file or directory")] {
            let outcome = try await nk("-o", folder.file(name), server.url("/"))
            #expect(outcome.code == 23)
            #expect(outcome.errorLines == ["nk: (23) cannot write to \(folder.file(name)): \(reason)"])
        }
        #expect(folder.names == ["astray", "loop"])
        #expect(folder.mode(of: "loop") & 0o170000 == 0o120000)
    }

    @Test func aDeviceIsWrittenAndNotReplaced() async throws {
        #expect(try await nk("-o", "/dev/null", server.url("/")).code == 0)
    }

    /// Standard output of these processes is an unnamed file.
    @Test(arguments: ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
    func standardOutputByPathIsAppendedTo(path: String) async throws {
        #expect(try await nk("-o", path, server.url("/")).text == "new")
        let both = try await nk(line: "echo before; \"$0\" \"$@\"; echo behind", "-o", path, server.url("/"))
        #expect(both.text == "before\nnewbehind\n" && both.code == 0)
        try folder.link("out", to: path)
        #expect(try await nk("-o", folder.file("out"), server.url("/")).text == "new")
        #expect(folder.mode(of: "out") & 0o170000 == 0o120000)
    }

    @Test func failureLeavesNoFile() async throws {
        #expect(try await nk("-o", folder.file("out"), server.url("/cut")).code == 18)
        #expect(folder.names == [])
    }

    @Test func failureLeavesTheOldFileUnchanged() async throws {
        try folder.write(Array("old".utf8), to: "out")
        #expect(try await nk("-o", folder.file("out"), server.url("/cut")).code == 18)
        #expect(try await nk("-f", "-o", folder.file("out"), server.url("/missing")).code == 22)
        #expect(folder.contents(of: "out") == Array("old".utf8))
        #expect(folder.names == ["out"])
    }

    @Test func fileThatCannotBeCreatedIsNamed() async throws {
        let path = folder.file("none/out")
        let outcome = try await nk("-o", path, server.url("/"))
        #expect(outcome.code == 23)
        #expect(outcome.errorLines == ["nk: (23) cannot write to \(path): No such file or directory"])
        let other = try await nk("-o", folder.path, server.url("/"))
        #expect(other.code == 23)
        #expect(other.errorLines == ["nk: (23) cannot write to \(folder.path): Is a directory"])
        let source = try await nk("-d", "@", server.url("/"))
        #expect(source.errorLines == ["nk: (26) cannot read '': No such file or directory"])
    }

    @Test(arguments: [
        ["-o", "same", "-c", "same"], ["-o", "same", "--timing-svg", "./same"], ["-o", "same", "--har", "same"],
        ["-D", "same", "-c", "same"], ["-c", "same", "--timing-svg", "same"], ["-O", "-c", "same"],
    ])
    func oneFileIsNotWrittenTwice(words: [String]) async throws {
        server.script("/same", .text("new"))
        let outcome = try await nk(words + [server.url("/same")], folder: folder.path)
        #expect(outcome.code == 2 && outcome.errorLines.count == 1 && outcome.errors.contains("use the same file, "))
        #expect(folder.names == [] && server.requestCount == 0)
    }

    @Test func devicesAndStandardOutputCanBeSharedByOutputs() async throws {
        let words = ["-o", "/dev/null", "-c", "/dev/null", "-D", "/dev/null", "--timing-svg", "/dev/null"]
        #expect(try await nk(words + [server.url("/")]).code == 0)
        let output = try await nk("-o", "-", "-c", "-", server.url("/"))
        #expect(output.code == 0 && output.text.hasPrefix("new# Netscape"))
    }
}
