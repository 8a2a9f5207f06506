import NetKit
import Testing

/// The `Link` field (RFC 8288).
struct WebLinkTests {
    private func links(_ fields: String...) -> [WebLink] {
        Response(status: 200, headers: Headers(fields.map { .init(name: "Link", value: $0) })).links
    }

    @Test func targetRelationsAndParametersAreRead() {
        let links = links(
            #"<http://a/?x=1,2;3>; rel="next archive"; title="a \"b\", c;d" ;TYPE=text/html, <b>;rel=prev"#)
        #expect(links.map(\.target) == ["http://a/?x=1,2;3", "b"])
        #expect(links[0].relations == ["next", "archive"])
        #expect(links[0].parameters == ["title": #"a "b", c;d"#, "type": "text/html"])
        #expect(links[1].relations == ["prev"])
    }

    @Test func unquotedValueCanContainNonTokenCharacters() {
        let links = links("<a>; title=x=\"y z ; rel=http://b/rel?c=d\t, <e>;rel=next prev;type=f")
        #expect(links.map(\.target) == ["a", "e"])
        #expect(links.map(\.relations) == [["http://b/rel?c=d"], ["next", "prev"]])
        #expect(links.map(\.parameters) == [["title": "x=\"y z"], ["type": "f"]])
    }

    @Test func severalFieldsFormOneList() {
        #expect(links("<a>; rel=a", ", ,<b>; rel=b,").map(\.target) == ["a", "b"])
    }

    @Test func firstOfTwoRelationsIsUsed() {
        #expect(links("<a>; rel=next; rel=prev").map(\.relations) == [["next"]])
    }

    @Test func relationsAreComparedWithoutCase() throws {
        let response = Response(status: 200, headers: ["Link": "<a>; ReL=NeXt"])
        #expect(try response.link("NEXT") == "a")
        #expect(try response.link("prev") == nil)
    }

    @Test func linkWithAnAnchorIsOmitted() {
        #expect(links(#"<a>; rel=next; anchor="/other", <b>; rel=next"#).map(\.target) == ["b"])
    }

    @Test(arguments: [
        "", " ", ",,", "a; rel=next", "<a; rel=next", "<a b>; rel=next", "<<a>; rel=next", "rel=next", ";",
        "\"<a>; rel=next",
        "<a", "<",
    ])
    func malformedLinkIsOmitted(value: String) throws {
        #expect(links(value).isEmpty)
        #expect(links(value, "<b>; rel=next").map(\.target) == ["b"])
    }

    @Test(arguments: ["x, <b>; rel=next", "<a b>; title=\"<c>, d\", <b>; rel=next", "<a b;,c>; x, <b>; rel=next"])
    func malformedLinkDoesNotHideLaterLinks(value: String) {
        #expect(links(value).map(\.target) == ["b"])
    }

    @Test(arguments: [
        "<a>", "<a>; rel", "<a>; rel=", "<a>; rel=\"\"", "<a>;", "<a>; =x; ;", "<a> rel=next", "<a>; rel=\"next",
    ])
    func aLinkMayHaveNoRelation(value: String) {
        #expect(links(value).map(\.target) == ["a"])
        #expect(links(value)[0].relations.isEmpty || value.hasSuffix("\"next"))
    }

    @Test func targetsResolveAgainstTheFinalURL() throws {
        var hop = HopMetrics()
        hop.url = "http://host/a/b?c"
        let response = Response(status: 200, headers: ["Link": "<../d?e>; rel=next"], metrics: Metrics([hop]))
        #expect(try response.link("next") == "http://host/d?e")
    }

    @Test func arbitraryBytesAreParsedSafely() {
        var generator = SeededGenerator(seed: 7)
        let letters = Array(#"<>;,="\ ab"# + "\t\u{e9}")
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...24, using: &generator)
            let text = String((0..<count).map { _ in letters.randomElement(using: &generator) ?? "a" })
            for link in links(text) {
                #expect(!link.target.contains(">") && !link.target.contains(" "))
            }
        }
    }
}
