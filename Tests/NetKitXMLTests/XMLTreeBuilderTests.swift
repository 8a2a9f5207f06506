#if XML
import NetKit
import Testing

@testable import NetKitXML

@Suite(.timeLimit(.minutes(5)))
struct XMLTreeBuilderTests {
    /// If a text of a million pieces were copied for each piece, this would take hours.
    @Test func longTextGrowsInPlace() throws {
        var builder = XMLTreeBuilder(maxNodes: 3)
        let piece = String(repeating: "0123456789abcdef", count: 4)
        try builder.add([.start(XMLName("a"), attributes: [], namespaces: []), .comment("c")])
        for _ in 0..<1000 {
            try builder.add(Array(repeating: .text(piece), count: 1000))
        }
        try builder.add([.end(XMLName("a"))])
        let children = try builder.document().root.children
        guard case .text(let text) = try #require(children.last) else { throw NetError(.badXML, "no text") }
        #expect(children.count == 2 && text.utf8.count == 64_000_000)
        #expect(text.hasPrefix(piece) && text.hasSuffix(piece))
    }

    @Test func separateTextNodesAreNotMerged() throws {
        var builder = XMLTreeBuilder(maxNodes: 10)
        try builder.add([
            .start(XMLName("a"), attributes: [], namespaces: []), .text("1"), .text("2"), .comment("c"), .text("3"),
            .start(XMLName("b"), attributes: [], namespaces: []), .text("4"), .end(XMLName("b")), .text("5"),
            .text("6"), .end(XMLName("a")),
        ])
        let inner = XMLElement(XMLName("b"), children: [.text("4")])
        let children: [XMLNode] = [.text("12"), .comment("c"), .text("3"), .element(inner), .text("56")]
        #expect(try builder.document().root.children == children)
    }
}
#endif
