import NetKit
import Testing

struct HeadersTests {
    private typealias Field = Headers.Field

    @Test func aLiteralKeepsOrderSpellingAndRepeatedNames() {
        let headers: Headers = ["B": "1", "a": "2", "B": "3"]
        #expect(
            Array(headers) == [
                Field(name: "B", value: "1"), Field(name: "a", value: "2"), Field(name: "B", value: "3"),
            ])
    }

    @Test(arguments: ["Content-Type", "content-type", "CONTENT-TYPE", "cOnTeNt-tYpE"])
    func readingIgnoresCase(name: String) {
        let headers: Headers = ["Accept": "*/*", "Content-Type": "text/plain"]
        #expect(headers[name] == "text/plain")
        #expect(headers.values(named: name) == ["text/plain"])
    }

    @Test func onlyASCIILettersAreFolded() {
        let headers: Headers = ["X-É": "1", "X[": "2"]
        #expect(headers["X-é"] == nil)
        #expect(headers["X{"] == nil)
        #expect(headers["x-É"] == "1")
    }

    @Test func aMissingNameIsNilAndHasNoValues() {
        let headers: Headers = ["Accept": "*/*"]
        #expect(headers["Accep"] == nil)
        #expect(headers["Accept-"] == nil)
        #expect(headers.values(named: "").isEmpty)
    }

    @Test func readingReturnsTheFirstOfSeveral() {
        let headers: Headers = ["Set-Cookie": "a", "X": "-", "set-cookie": "b"]
        #expect(headers["SET-COOKIE"] == "a")
        #expect(headers.values(named: "Set-Cookie") == ["a", "b"])
    }

    @Test func settingReplacesAllAtTheFirstPosition() {
        var headers: Headers = ["A": "1", "b": "2", "C": "3", "B": "4"]
        headers["B"] = "5"
        #expect(
            Array(headers) == [
                Field(name: "A", value: "1"), Field(name: "B", value: "5"), Field(name: "C", value: "3"),
            ])
    }

    @Test func settingAMissingNameAddsItAtTheEnd() {
        var headers: Headers = ["A": "1"]
        headers["B"] = "2"
        #expect(headers.map(\.name) == ["A", "B"])
    }

    @Test func settingNilRemovesEveryFieldOfTheName() {
        var headers: Headers = ["A": "1", "b": "2", "B": "3"]
        headers["B"] = nil
        #expect(headers == ["A": "1"])
        headers["missing"] = nil
        #expect(headers == ["A": "1"])
    }

    @Test func appendingKeepsExistingFields() {
        var headers: Headers = ["A": "1", "B": "2"]
        headers.append(name: "a", value: "3")
        #expect(headers.values(named: "A") == ["1", "3"])
        #expect(headers.last == Field(name: "a", value: "3"))
    }

    @Test func equalityIgnoresOnlyTheCaseOfNames() {
        let headers: Headers = ["Accept": "a", "X": "b"]
        #expect(headers == ["accept": "a", "x": "b"])
        #expect(headers != ["Accept": "A", "X": "b"])
        #expect(headers != ["X": "b", "Accept": "a"])
        #expect(headers != ["Accept": "a"])
    }

    @Test func descriptionContainsTheFieldsAndNoSecret() async throws {
        #expect("\(Headers())" == "[:]")
        let headers: Headers = ["Accept": "a, b", "X-Quoted": "say \"yes\"\u{1b}", "accept": "c"]
        #expect("\(headers)" == #"["Accept": "a, b", "X-Quoted": "say \"yes\"\u{1B}", "accept": "c"]"#)
        let secret: Headers = [
            "Authorization": "Bearer s3cret", "cookie": "id=s3cret", "Set-Cookie": "id=s3cret; Path=/",
            "PROXY-AUTHORIZATION": "Basic s3cret", "X-Api-Key": "s3cret",
            "Location": "http://me:s3cret@h/?token=s3cret",
        ]
        let server = try LoopbackServer()
        server.script("/", Reply(headers: secret.map { "\($0.name): \($0.value)" }))
        let response = try await Agent().send(Request<Bytes>(server.url("/")))
        for fields in [secret, response.headers] {
            var dumped = ""
            dump(fields, to: &dumped)
            dump(fields.first, to: &dumped)
            let shown = [
                "\(fields)", String(reflecting: fields), "\(Array(fields))", String(describing: Optional(fields)),
                dumped,
                "\(Response(status: 200, headers: fields))",
            ]
            for text in shown {
                #expect(text.contains("Authorization") && text.contains("[hidden]") && !text.contains("s3cret"))
            }
        }
        #expect(secret["Authorization"] == "Bearer s3cret")
    }

    @Test func copiesAreIndependent() {
        let original: Headers = ["A": "1"]
        var copy = original
        copy["A"] = "2"
        copy.append(name: "B", value: "3")
        #expect(original == ["A": "1"])
    }

    @Test func receivedFieldsReadLikeBuiltOnes() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(headers: ["X-One: 1", "x-two:   spaced \t", "X-ONE: 3", "X-Empty:"]))
        let headers = try await Agent().send(Request<Bytes>(server.url("/"))).headers
        #expect(
            headers == ["X-One": "1", "X-Two": "spaced", "x-one": "3", "X-Empty": "", "Content-Length": "0"])
        #expect(headers.map(\.name).starts(with: ["X-One", "x-two", "X-ONE", "X-Empty"]))
        #expect(headers["x-ONE"] == "1")
        #expect(headers.values(named: "X-One") == ["1", "3"])
        #expect(headers["X-Tw"] == nil)
    }

    @Test func changingReceivedFieldsDoesNotAffectTheResponse() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(headers: ["A: 1", "B: 2"]))
        let response = try await Agent().send(Request<Bytes>(server.url("/")))
        var headers = response.headers
        headers["A"] = nil
        headers.append(name: "C", value: "3")
        #expect(headers == ["B": "2", "Content-Length": "0", "C": "3"])
        #expect(response.headers == ["A": "1", "B": "2", "Content-Length": "0"])
    }
}
