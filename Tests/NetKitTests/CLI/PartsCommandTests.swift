import Testing

@testable import NetKitCLI

@Suite(.timeLimit(.minutes(5)))
struct PartsCommandTests {
    private static let body =
        "--b\r\nContent-Type: image/jpeg\r\n\r\none\r\n--b\r\nContent-Type: ../x\r\n\r\n\r\n--b\r\n\r\nthree\r\n--b--"

    private func server(_ body: String = body, type: String = "multipart/mixed; boundary=b") throws -> LoopbackServer {
        let server = try LoopbackServer()
        server.script("/", .text(body, contentType: type))
        return server
    }

    @Test func partsAreListedAndWritten() async throws {
        let server = try server()
        let folder = try TemporaryFolder()
        let outcome = try await nk("parts", "--into", folder.path, server.url("/"))
        #expect(outcome.code == 0 && outcome.errors == "")
        #expect(
            outcome.text == """
                1 image/jpeg 3 bytes -> \(folder.file("part-0001.jpg"))
                2 ../x 0 bytes -> \(folder.file("part-0002.bin"))
                3 - 5 bytes -> \(folder.file("part-0003.bin"))

                """)
        #expect(folder.names == ["part-0001.jpg", "part-0002.bin", "part-0003.bin"])
        let two = try await nk("parts", "--count", "2", server.url("/"))
        #expect(two.code == 0 && two.text == "1 image/jpeg 3 bytes\n2 ../x 0 bytes\n")
    }

    @Test func errorsHaveTheirExitCodes() async throws {
        let cut = try server(String(Self.body.dropLast(4)))
        let outcome = try await nk("parts", cut.url("/"))
        #expect(outcome.code == 18 && outcome.text == "1 image/jpeg 3 bytes\n2 ../x 0 bytes\n")
        let html = try server("<html>", type: "text/html")
        #expect(try await nk("parts", html.url("/")).code == 105)
        let large = try server()
        #expect(try await nk("parts", "--max-bytes", "2", large.url("/")).code == 63)
    }

    @Test(arguments: [
        (["--bad", "u"], "unknown option --bad"), ([], "needs a URL"), (["a", "b"], "one URL"),
        (["--count", "0", "u"], "from 1"),
        (["--max-bytes", "x", "u"], "from 1"), (["--into"], "needs a value"), (["-H", "x", "u"], "'Name: value'"),
    ])
    func invalidInputPrintsOneLine(words: [String], says: String) async throws {
        let outcome = try await nk(["parts"] + words)
        #expect(outcome.code == 2 && outcome.text == "")
        #expect(outcome.errors.contains(says) && outcome.errors.split(separator: "\n").count == 1)
    }

    @Test func fileNamesDoNotComeFromTheServer() {
        #expect(PartsCommand.fileName(1, "Image/PNG; name=../../x.sh") == "part-0001.png")
        #expect(PartsCommand.fileName(12345, "x/y") == "part-12345.bin")
    }
}
