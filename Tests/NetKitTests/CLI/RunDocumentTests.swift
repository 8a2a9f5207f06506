import NetKit
import Testing

@testable import NetKitCLI

/// The documents that `nk run` reads.
@Suite(.timeLimit(.minutes(5)))
struct RunDocumentTests {
    private func fault(in text: String) -> String? {
        do throws(RunFault) {
            _ = try RunDocument(Bytes(Array(text.utf8)))
            return nil
        } catch {
            return error.location + ": " + error.message
        }
    }

    private func document(_ text: String) throws -> RunDocument { try RunDocument(Bytes(Array(text.utf8))) }

    @Test(arguments: [
        ("{", ":1:2: not JSON: expected a name or '}', found the end of the text"),
        ("[]", ":1:1: expected object, found array, at the root"),
        ("{}", ":1:2: expected array, found nothing, at /steps"),
        (#"{"steps": 3}"#, ":1:11: expected array, found number, at /steps"),
        (#"{"steps": [], "x": 1}"#, ":1:15: unknown member at /x"),
        (#"{"steps": [{}]}"#, ":1:13: expected string, found nothing, at /steps/0/url"),
        ("{\"steps\": [\n {\"url\": 7}]}", ":2:10: expected string, found number, at /steps/0/url"),
        (#"{"kind": "other", "steps": []}"#, #":1:10: expected one of "batch", "chain", found "other", at /kind"#),
    ])
    func shapeMismatchIsReportedWithItsPosition(text: String, message: String) {
        let fault = fault(in: text) ?? ""
        // The wording of what was expected may change. The location and what was found may not.
        let location = message.prefix { $0 != " " }
        #expect(fault.hasPrefix(location))
        #expect(fault.hasSuffix(message.split(separator: ",").last.map(String.init) ?? "?"))
    }

    @Test(arguments: [
        (
            #"{"steps":[{"url":"a","after":["1"]}]}"#,
            "expected nothing in a batch, found names of steps, at /steps/0/after"
        ),
        (#"{"kind":"chain","limit":3,"steps":[]}"#, "expected nothing in a chain, found limit, at /limit"),
        (#"{"kind":"chain","collect":true,"steps":[]}"#, "expected nothing in a chain, found collect, at /collect"),
        (
            #"{"kind":"chain","steps":[{"url":"a","after":["z"]}]}"#,
            #"expected the name of a step, found "z", at /steps/0/after/0"#
        ),
        (
            #"{"kind":"chain","steps":[{"url":"a","after":["2"]},{"url":"b"}]}"#,
            #"expected steps without cycles, found steps depend on each other in a cycle: "1" after "2" after "1", at /steps"#
        ),
        (
            #"{"kind":"chain","steps":[{"url":"${2}"},{"url":"b"}]}"#,
            #"expected a step that comes before "1", found "2", at /steps/0/url"#
        ),
        (
            #"{"kind":"chain","steps":[{"url":"a"},{"url":"b","json":[{"k":"${q/x}"}]}]}"#,
            #"expected a step that comes before "2", found "q", which is not a step, at /steps/1/json/0/k"#
        ),
        (#"{"steps":[{"url":"${1}"}]}"#, #"expected a step that comes before "1", found "1", at /steps/0/url"#),
        (
            #"{"steps":[{"url":"a","name":"x"},{"url":"b","name":"x"}]}"#,
            #"expected a unique name, found "x" twice, at /steps/1/name"#
        ),
        (#"{"steps":[{"url":"a${b"}]}"#, "expected '}', found the end of the text, at /steps/0/url"),
        (#"{"steps":[{"url":"a${/b}"}]}"#, #"expected the name of a step, found "/b", at /steps/0/url"#),
        (#"{"steps":[{"url":"a","headers":{"X":1}}]}"#, "expected string, found 1, at /steps/0/headers/X"),
        (#"{"headers":{"X":[]},"steps":[]}"#, "expected string, found [], at /headers/X"),
        (
            #"{"steps":[{"url":"a"},{"url":"b","method":"A B"}]}"#,
            #"expected a method, found "A B", at /steps/1/method"#
        ),
        (
            #"{"steps":[{"url":"a","headers":{"a/b~c":"1"}}]}"#,
            "expected a name of letters, digits and hyphens, found another character, at /steps/0/headers/a~1b~0c"
        ),
        (
            #"{"headers":{"":"1"},"steps":[]}"#,
            "expected a name of letters, digits and hyphens, found another character, at /headers/"
        ),
        (
            #"{"steps":[{"url":"a","headers":{"X":"1\nY: 2"}}]}"#,
            "expected one line, found a control character, at /steps/0/headers/X"
        ),
        (
            #"{"steps":[{"url":"a","json":{"a/b":["${z}"]}}]}"#,
            #"expected a step that comes before "1", found "z", which is not a step, at /steps/0/json/a~1b/0"#
        ),
        (#"{"steps":[{"url":"a","body":"x","json":1}]}"#, #"expected "body" or "json", found both, at /steps/0"#),
        (
            #"{"steps":[{"url":"a","status":[300,200]}]}"#,
            "expected the lowest and the highest status, found [300, 200], at /steps/0/status"
        ),
    ])
    func semanticErrorIsReportedWithItsPointer(text: String, message: String) {
        #expect(fault(in: text) == ": " + message)
    }

    @Test(arguments: [
        #""limit": 0"#, #""limit": 1.5"#, #""timeout_s": 0"#, #""timeout_s": "1""#, #""collect": 1"#, #""base": null"#,
        #""headers": []"#, #""kind": null"#, #""steps": [{"url": "a", "status": [200]}]"#,
        #""steps": [{"url": "a", "status": [99, 100]}]"#, #""steps": [{"url": "a", "name": ""}]"#,
        #""steps": [{"url": "a", "query": []}]"#, #""steps": [{"url": "a", "after": "b"}]"#,
        #""steps": [{"url": "a", "method": ""}]"#, #""steps": ["a"]"#, #""steps": [null]"#,
    ])
    func valueOutOfRangeIsRefused(member: String) {
        let text = member.hasPrefix("\"steps\"") ? "{\(member)}" : "{\(member), \"steps\": []}"
        #expect(fault(in: text)?.hasPrefix(":1:") == true)
    }

    @Test func batchCanBeEmpty() throws {
        let document = try document(#"{"steps": []}"#)
        #expect(document.kind == .batch && document.steps.isEmpty && document.limit == nil && !document.collects)
    }

    @Test func chainStepsAreNumberedAndRunInOrder() throws {
        let document = try document(
            #"{"kind":"chain","steps":[{"url":"a"},{"url":"b","name":"x"},{"url":"c"},{"url":"d","after":[]}]}"#)
        #expect(document.steps.map(\.name) == ["1", "x", "3", "4"])
        #expect(document.steps.map(\.earlier) == [[], ["1"], ["x"], []])
    }

    // MARK: Templates with response values

    private func answers(_ text: String) -> StepResponses {
        StepResponses { name throws(NetError) in
            guard name == "a" else { throw NetError(.usage, "no \(name)") }
            return Bytes(Array(text.utf8))
        }
    }

    @Test(arguments: [
        ("${a/id}", "7"), ("x${a/id}y${a/name}", "x7yb c"),
        ("${a}", #"{"id": 7, "name": "b c", "l": [1, {"~/": null}]}"#),
        ("$${a}", "${a}"), ("$${a${a/id}", "${a7"), ("$", "$"), ("", ""), ("a$b", "a$b"), ("${a/l/0}", "1"),
        ("${a/l/1}", #"{"~/":null}"#), ("${a/l/1/~0~1}", ""),
    ])
    func responseValuesAreSubstituted(text: String, filled: String) throws {
        let answers = answers(#"{"id": 7, "name": "b c", "l": [1, {"~/": null}]}"#)
        #expect(try StepTemplate(text, at: "").text(answers) == filled)
    }

    @Test func responseValuesInURLsAreEncoded() throws {
        #expect(
            try StepTemplate("u/${a/x}", at: "").text(answers(#"{"x": "/../b?c#d%"}"#), encode: Percent.encoded)
                == "u/%2F..%2Fb%3Fc%23d%25")
    }

    @Test func textConsistingOfAReferenceBecomesTheValue() throws {
        let value = try JSONValue(parsing: #"{"n": "${a/id}", "t": "x${a/id}", "deep": ["${a/l}"], "is": true}"#)
        #expect(
            try value.filled(answers(#"{"id": 7, "l": [1.50, null]}"#)).description
                == #"{"n":7,"t":"x7","deep":[[1.50,null]],"is":true}"#)
    }

    @Test(arguments: ["${a/x}", "${a/l/2}", "${a/l/-}", "${a/l/01}", "${a/id/x}", "${a/l/}"])
    func missingResponseValueIsReportedWithItsPointer(text: String) throws {
        #expect(throws: NetError.self) { try StepTemplate(text, at: "").text(answers(#"{"id": 7, "l": [1, 2]}"#)) }
    }

    @Test func nonJSONResponseIsReported() throws {
        #expect(throws: NetError.self) { try StepTemplate("${a/x}", at: "").text(answers("<html>")) }
        #expect(try StepTemplate("${a}", at: "").text(answers("<html>")) == "<html>")
    }
}
