public import NetKit

/// A whole XML text as a tree: a value.
///
///     let feed = try await agent.send(Request<XMLDocument>("feed.xml")).value
///     let titles = feed.root.elements(named: "entry").compactMap { $0.element(named: "title")?.text }
public struct XMLDocument: Sendable, Hashable {
    /// The one element that holds all others.
    public var root: XMLElement
    /// The document type declaration, where there is one: the root's name and what it refers to.
    public var documentType: DocumentType?

    /// What a document type declaration says of itself; nothing is fetched.
    public struct DocumentType: Sendable, Hashable {
        /// The name that the root should have.
        public var name: String
        /// The public identifier.
        public var publicID: String?
        /// The system identifier, mostly a URL.
        public var systemID: String?
    }

    /// A document of one's own.
    public init(root: XMLElement) {
        self.root = root
    }

    /// Reads a text.
    ///
    /// Throws `NetError.Code.badXML` with line and column (``XMLFault``) for what is no well-formed XML or refers to an
    /// entity, `tooLarge` for what is more than the rules allow, `badCharset`.
    /// - Parameters:
    ///   - bytes: the text.
    ///   - charset: what is known of its charset from elsewhere; a byte order mark counts more (RFC 7303, 3).
    ///   - rules: how much it may be.
    public init(_ bytes: Bytes, charset: String? = nil, rules: XMLRules = XMLRules()) throws(NetError) {
        let parser = try XMLParser(charset: charset, rules: rules)
        var builder = XMLTreeBuilder(maxNodes: rules.maxNodes)
        var start = 0
        while start < bytes.count {
            // In pieces, so that the events of a large text do not all stand beside its tree.
            let end = min(start + 1 << 16, bytes.count)
            try builder.add(try parser.feed(bytes, from: start, to: end))
            start = end
        }
        try builder.add(try parser.finish())
        self = try builder.document()
    }

    init(root: XMLElement, documentType: DocumentType?) {
        self.root = root
        self.documentType = documentType
    }
}
