#if XML
public import NetKit

/// A complete XML document as a tree of values.
///
///     let feed = try await agent.send(Request<XMLDocument>("feed.xml")).value
///     let titles = feed.root.elements(named: "entry").compactMap { $0.element(named: "title")?.text }
public struct XMLDocument: Sendable, Hashable {
    /// The root element.
    public var root: XMLElement
    /// The document type declaration, if there is one.
    public var documentType: DocumentType?

    /// A document type declaration. The resources that its identifiers refer to are never fetched.
    public struct DocumentType: Sendable, Hashable {
        /// The name that the root element should have.
        public var name: String
        /// The public identifier.
        public var publicID: String?
        /// The system identifier, usually a URL.
        public var systemID: String?
    }

    /// Creates a document.
    public init(root: XMLElement) {
        self.root = root
    }

    /// Parses a document.
    ///
    /// Throws `NetError.Code.badXML` with line and column (``XMLFault``) if the text is not well-formed, or refers to
    /// an entity that XML does not predefine. Throws `tooLarge` if the text exceeds the rules, and `badCharset` for an
    /// unknown charset.
    /// - Parameters:
    ///     - bytes: the XML text.
    ///   - charset: the charset, if it is known from another source such as a Content-Type. A byte order mark takes
    ///     precedence (RFC 7303, 3).
    ///   - rules: the limits.
    public init(_ bytes: Bytes, charset: String? = nil, rules: XMLRules = XMLRules()) throws(NetError) {
        let parser = try XMLParser(charset: charset, rules: rules)
        var builder = XMLTreeBuilder(maxNodes: rules.maxNodes)
        var start = 0
        while start < bytes.count {
            // The text is parsed in chunks, so that not all events of a large text are in memory in addition to the
            // tree.
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
#endif
