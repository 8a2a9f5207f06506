import Testing

struct ValidateTests {
    private func file(_ text: String, _ name: String, in folder: TemporaryFolder) async throws -> String {
        try folder.write(Array(text.utf8), to: name)
        return folder.file(name)
    }

    @Test func eachFilePrintsOneLine() async throws {
        let folder = try TemporaryFolder()
        let right = try await file("{\"a\": [1, 2]}\n", "right", in: folder)
        let wrong = try await file("{\"a\":\n  [1, x]}", "wrong", in: folder)
        let empty = try await file("", "empty", in: folder)
        let outcome = try await nk("validate", right, wrong, right, empty)
        #expect(outcome.code == 1)
        #expect(outcome.errors == "")
        #expect(outcome.lines.count == 4)
        #expect(outcome.lines[0] == "ok" && outcome.lines[2] == "ok")
        #expect(outcome.lines[1].hasPrefix("\(wrong):2:7: not JSON, expected "))
        #expect(outcome.lines[1].hasSuffix(", found 'x'"))
        #expect(outcome.lines[3].hasPrefix("\(empty):1:1: not JSON, expected "))
        #expect(try await nk("validate", right).text == "ok\n")
        #expect(try await nk("validate", right, right).code == 0)
    }

    @Test func standardInputIsReadWithoutAFile() async throws {
        for arguments in [["validate"], ["validate", "-"], ["validate", "--", "-"]] {
            #expect(try await nk(arguments, input: Array(" [1] ".utf8)).text == "ok\n")
            let outcome = try await nk(arguments, input: Array("[1".utf8))
            #expect(outcome.code == 1)
            #expect(outcome.text.hasPrefix("-:1:3: not JSON, expected "))
        }
    }

    @Test func shapeMismatchNamesThePosition() async throws {
        let folder = try TemporaryFolder()
        let shape = try await file(#"{"id": "integer", "tags": ["string"]}"#, "shape", in: folder)
        let text = try await file("{\"id\": 1,\n \"tags\": [\"é\", 2]}", "text", in: folder)
        let outcome = try await nk("validate", "--shape", shape, text)
        #expect(outcome.code == 1)
        #expect(outcome.text == "\(text):2:16: wrong shape, expected string, found number, at /tags/1\n")
        let root = try await nk(["validate", "--shape", shape], input: Array("[]".utf8))
        #expect(root.text == "-:1:1: wrong shape, expected object, found array, at the root\n")
        let broken = try await nk(["validate", "--shape", shape], input: Array("{\"id\":1,".utf8))
        #expect(broken.text.hasPrefix("-:1:9: not JSON, expected "))
    }

    @Test func schemaMismatchNamesThePositionAndTheKeyword() async throws {
        let folder = try TemporaryFolder()
        let schema = try await file(
            #"{"items": {"properties": {"id": {"minimum": 1}, "day": {"format": "date"}}}}"#, "schema", in: folder)
        let outcome = try await nk(["validate", "--schema", schema], input: Array("[{\"id\": 1},\n {\"id\": 0}]".utf8))
        #expect(outcome.code == 1)
        #expect(
            outcome.text
                == "-:2:9: wrong value, expected at least 1, found 0, at /1/id (#/items/properties/id/minimum)\n")
        #expect(try await nk(["validate", "--schema", schema], input: Array(#"[{"id": 1}]"#.utf8)).text == "ok\n")
        #expect(try await nk(["validate", "--schema", schema], input: Array(#"[{"day": "x"}]"#.utf8)).code == 1)
        let bad = try await file(#"{"type": "text"}"#, "bad", in: folder)
        let refused = try await nk(["validate", "--schema", bad], input: [])
        #expect(refused.code == 2 && refused.errors.contains("invalid schema in \(bad): at #/type: "))
        #expect(try await nk(["validate", "--schema", schema, "--shape", schema], input: []).code == 2)
    }

    @Test func leniencyRequiresAShape() async throws {
        let folder = try TemporaryFolder()
        let shape = try await file(#"{"id": "integer"}"#, "shape", in: folder)
        let text = try await file(#"{"id": null}"#, "text", in: folder)
        #expect(try await nk("validate", "--shape", shape, text).code == 1)
        #expect(try await nk("validate", "--shape", shape, "--lenient-null", text).code == 0)
        let alone = try await nk("validate", "--lenient-null", text)
        #expect(alone.code == 2 && alone.errorLines.count == 1 && alone.text == "")
    }

    @Test func invalidInputIsAUsageError() async throws {
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

    @Test func unreadableFileIsReportedAndTheOthersAreChecked() async throws {
        let folder = try TemporaryFolder()
        let right = try await file("1", "right", in: folder)
        let outcome = try await nk("validate", folder.file("missing"), folder.path, right)
        #expect(outcome.code == 1)
        #expect(outcome.text == "ok\n")
        #expect(outcome.errorLines.count == 2)
    }

    @Test func validateHasItsOwnHelp() async throws {
        let outcome = try await nk("validate", "--help")
        #expect(outcome.code == 0)
        #expect(outcome.text.contains("--shape") && outcome.text.contains("--lenient-null"))
        let lines = outcome.text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 24 && lines.allSatisfy { $0.count <= 80 })
    }

    @Test func deepOrLongDocumentUsesConstantMemory() async throws {
        let folder = try TemporaryFolder()
        let text = try await file("[" + String(repeating: "0123,", count: 1), "start", in: folder)
        #expect(try await nk("validate", text).lines.first?.hasPrefix("\(text):1:3: not JSON") == true)
        let deep = try await nk(["validate"], input: Array(repeating: UInt8(ascii: "["), count: 1_000_000))
        #expect(deep.code == 1)
        #expect(deep.text.hasPrefix("-:1:513: not JSON"))
    }
}

struct ValidateTreeTests {
    #if CJSON
    @Test func validFileIsPrintedAsCJSONPrintsItsTree() async throws {
        let text = "{\"name\": \"Oslo\\u0021\", \"people\": [717710, 1.50, true, null], \"name\": \"Bergen\"}"
        let outcome = try await nk(["validate", "--tree"], input: Array(text.utf8))
        #expect(outcome.text == "{\n\t\"name\":\t\"Bergen\",\n\t\"people\":\t[717710, 1.5, true, null]\n}\n")
        #expect(outcome.code == 0 && outcome.errors == "")
    }

    @Test func eachFilePrintsItsTreeOrAnErrorWithThePointer() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("[1]".utf8), to: "small")
        try folder.write(Array("{\"å\": 1,\n \"é\": [\"ü\", 9007199254740993]}".utf8), to: "large")
        try folder.write(Array(#"["\u0000"]"#.utf8), to: "nul")
        try folder.write(Array("[01]".utf8), to: "zero")
        let (small, large, nul, zero) = (
            folder.file("small"), folder.file("large"), folder.file("nul"), folder.file("zero")
        )
        let outcome = try await nk("validate", "--tree", large, small, nul, zero, folder.file("missing"), small)
        #expect(outcome.code == 1 && outcome.text == "[1]\n[1]\n")
        let lines = outcome.errorLines
        #expect(lines.count == 4)
        #expect(lines.first?.hasPrefix("\(large):2:13: no tree of cJSON, at /é/1: cJSON's numbers ") == true)
        #expect(lines.dropFirst().first?.hasPrefix("\(nul):1:2: no tree of cJSON, at /0: ") == true)
        #expect(lines.dropFirst(2).first?.hasPrefix("\(zero):1:3: not JSON, expected ") == true)
        #expect(lines.last?.contains("cannot read \(folder.file("missing"))") == true)
    }

    @Test func treeIsPrintedOnlyIfTheSchemaMatches() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Array(#"{"items": {"maximum": 2}}"#.utf8), to: "schema")
        let command = ["validate", "--tree", "--schema", folder.file("schema")]
        #expect(try await nk(command, input: Array("[2]".utf8)).text == "[2]\n")
        let wrong = try await nk(command, input: Array("[3]".utf8))
        #expect(wrong.code == 1 && wrong.text == "" && wrong.errors.contains("at /0 (#/items/maximum)"))
    }
    #else
    @Test func treeRequiresTheTrait() async throws {
        let outcome = try await nk(["validate", "--tree"], input: Array("[1]".utf8))
        #expect(outcome.code == 2 && outcome.text == "" && outcome.errors.contains("build it with --traits CJSON"))
    }
    #endif
}

struct ExpectOptionTests {
    @Test func bodyMustMatchTheSchema() async throws {
        let folder = try TemporaryFolder()
        try folder.write(
            Array(#"{"properties": {"id": {"minimum": 1}, "day": {"format": "date"}}}"#.utf8), to: "schema")
        try folder.write(Array(#"{"id": "integer"}"#.utf8), to: "shape")
        let server = try LoopbackServer()
        server.script("/right", .json(#"{"id": 1}"#))
        server.script("/wrong", .json(#"{"id": 0, "day": "2026-01-31"}"#))
        server.script("/format", .json(#"{"id": 1, "day": "x"}"#))
        server.script("/broken", .json(#"{"id": 1"#))
        server.script("/html", .text("<html>", contentType: "text/html"))
        let schema = folder.file("schema")
        let right = try await nk("--expect-schema", schema, server.url("/right"))
        #expect(right.code == 0 && right.text == #"{"id": 1}"#)
        let wrong = try await nk("--expect-schema", schema, "-o", folder.file("out"), server.url("/wrong"))
        #expect(wrong.code == 104 && wrong.errors.contains("/id") && wrong.errors.contains("#/properties/id/minimum"))
        #expect(folder.names == ["schema", "shape"])
        #expect(try await nk("--expect-schema", schema, server.url("/format")).code == 104)
        #expect(try await nk("--expect-schema", schema, server.url("/broken")).code == 103)
        let html = try await nk("--expect-schema", schema, server.url("/html"))
        #expect(html.code == 105 && html.text == "" && html.errors.contains("\"text/html\""))
        #expect(server.requestCount == 5)
        let both = try await nk("--expect-schema", schema, "--expect", folder.file("shape"), server.url("/right"))
        #expect(both.code == 2 && both.errors.contains("--expect and --expect-schema exclude each other"))
        try folder.write(Array(#"{"type": "text"}"#.utf8), to: "invalid")
        let invalid = try await nk("--expect-schema", folder.file("invalid"), server.url("/right"))
        #expect(invalid.code == 2 && invalid.errors.contains("invalid schema"))
        #expect(server.requestCount == 5)
    }

    @Test func bodyMustMatchTheShape() async throws {
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
