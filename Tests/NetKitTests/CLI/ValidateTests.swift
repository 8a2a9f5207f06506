import Testing

struct ValidateTests {
    private func file(_ text: String, _ name: String, in folder: TemporaryFolder) async throws -> String {
        try folder.write(Array(text.utf8), to: name)
        return folder.file(name)
    }

    @Test func oneLineTellsOfEachFile() async throws {
        let folder = try TemporaryFolder()
        let right = try await file("{\"a\": [1, 2]}\n", "right", in: folder)
        let wrong = try await file("{\"a\":\n  [1, x]}", "wrong", in: folder)
        let empty = try await file("", "empty", in: folder)
        let outcome = try await nk("validate", right, wrong, right, empty)
        #expect(outcome.code == 1)
        #expect(outcome.errors == "")
        #expect(outcome.lines.count == 4)
        #expect(outcome.lines[0] == "ok" && outcome.lines[2] == "ok")
        #expect(outcome.lines[1].hasPrefix("\(wrong):2:7: not JSON, wanted "))
        #expect(outcome.lines[1].hasSuffix(", found 'x'"))
        #expect(outcome.lines[3].hasPrefix("\(empty):1:1: not JSON, wanted "))
        #expect(try await nk("validate", right).text == "ok\n")
        #expect(try await nk("validate", right, right).code == 0)
    }

    @Test func standardInputIsReadWithoutAFile() async throws {
        for arguments in [["validate"], ["validate", "-"], ["validate", "--", "-"]] {
            #expect(try await nk(arguments, input: Array(" [1] ".utf8)).text == "ok\n")
            let outcome = try await nk(arguments, input: Array("[1".utf8))
            #expect(outcome.code == 1)
            #expect(outcome.text.hasPrefix("-:1:3: not JSON, wanted "))
        }
    }

    @Test func aShapeNamesThePlaceThatDiffers() async throws {
        let folder = try TemporaryFolder()
        let shape = try await file(#"{"id": "integer", "tags": ["string"]}"#, "shape", in: folder)
        let text = try await file("{\"id\": 1,\n \"tags\": [\"é\", 2]}", "text", in: folder)
        let outcome = try await nk("validate", "--shape", shape, text)
        #expect(outcome.code == 1)
        #expect(outcome.text == "\(text):2:16: another shape, wanted string, found number, at /tags/1\n")
        let root = try await nk(["validate", "--shape", shape], input: Array("[]".utf8))
        #expect(root.text == "-:1:1: another shape, wanted object, found array, at the root\n")
        let broken = try await nk(["validate", "--shape", shape], input: Array("{\"id\":1,".utf8))
        #expect(broken.text.hasPrefix("-:1:9: not JSON, wanted "))
    }

    @Test func leniencyGoesWithAShape() async throws {
        let folder = try TemporaryFolder()
        let shape = try await file(#"{"id": "integer"}"#, "shape", in: folder)
        let text = try await file(#"{"id": null}"#, "text", in: folder)
        #expect(try await nk("validate", "--shape", shape, text).code == 1)
        #expect(try await nk("validate", "--shape", shape, "--lenient-null", text).code == 0)
        let alone = try await nk("validate", "--lenient-null", text)
        #expect(alone.code == 2 && alone.errorLines.count == 1 && alone.text == "")
    }

    @Test func badInputIsUsage() async throws {
        let folder = try TemporaryFolder()
        let bad = try await file(#"{"id": "intger"}"#, "bad", in: folder)
        let text = try await file("1", "text", in: folder)
        for arguments in [
            ["--shape", bad, text], ["--shape", folder.file("missing"), text], ["--shape"], ["--nonsense", text],
            ["-", "-"], ["--shape", "-", "-"],
        ] {
            let outcome = try await nk(["validate"] + arguments)
            #expect(outcome.code == 2, "\(arguments)")
            #expect(outcome.errorLines.count == 1 && outcome.text == "", "\(arguments)")
        }
        #expect(try await nk("validate", "--shape", bad, text).errors.contains("at \"/id\""))
    }

    @Test func aFileThatCannotBeReadIsToldAndTheOthersGoOn() async throws {
        let folder = try TemporaryFolder()
        let right = try await file("1", "right", in: folder)
        let outcome = try await nk("validate", folder.file("missing"), folder.path, right)
        #expect(outcome.code == 1)
        #expect(outcome.text == "ok\n")
        #expect(outcome.errorLines.count == 2)
    }

    @Test func helpIsItsOwn() async throws {
        let outcome = try await nk("validate", "--help")
        #expect(outcome.code == 0)
        #expect(outcome.text.contains("--shape") && outcome.text.contains("--lenient-null"))
        let lines = outcome.text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 24 && lines.allSatisfy { $0.count <= 80 })
    }

    @Test func aDeepOrLongTextIsReadInFlatMemory() async throws {
        let folder = try TemporaryFolder()
        let text = try await file("[" + String(repeating: "0123,", count: 1), "start", in: folder)
        #expect(try await nk("validate", text).lines.first?.hasPrefix("\(text):1:3: not JSON") == true)
        let deep = try await nk(["validate"], input: Array(repeating: UInt8(ascii: "["), count: 1_000_000))
        #expect(deep.code == 1)
        #expect(deep.text.hasPrefix("-:1:513: not JSON"))
    }
}

struct ExpectOptionTests {
    @Test func theBodyHasToHaveTheShape() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Array(#"{"id": "integer"}"#.utf8), to: "shape")
        let server = try LoopbackServer()
        server.script("/right", .json(#"{"id": 1}"#))
        server.script("/wrong", .json(#"{"id": "1"}"#))
        server.script("/html", .text("<html>", contentType: "text/html"))
        server.script("/404", Reply(status: 404, headers: ["Content-Type: application/json"], body: Array("{}".utf8)))
        let shape = folder.file("shape")
        let right = try await nk("--expect", shape, server.url("/right"))
        #expect(right.code == 0 && right.text == #"{"id": 1}"#)
        let wrong = try await nk("--expect", shape, "-o", folder.file("out"), server.url("/wrong"))
        #expect(wrong.code == 104)
        #expect(wrong.errors.contains("/id"))
        #expect(folder.names == ["shape"])
        #expect(try await nk("--expect", shape, server.url("/404")).code == 22)
        let html = try await nk("--expect", shape, server.url("/html"))
        #expect(html.code == 105 && html.text == "")
        let missing = try await nk("--expect", folder.file("no"), server.url("/right"))
        #expect(missing.code == 2 && missing.errorLines.count == 1)
        #expect(server.requestCount == 4)
    }
}
