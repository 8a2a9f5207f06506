public import NetKit

/// A complete XML document as a tree of values.
///
///     let feed = try await agent.send(Request<XMLDocument>("feed.xml")).value
///     let titles = feed.root.elements(named: "entry").compactMap { $0.element(named: "title")?.text }
public struct XMLDocument: Sendable, Hashable {
    /// The root element.
    public var root: XMLElement
    /// The document type declaration, if there is one: the root's name and external identifiers.
    public var documentType: DocumentType?

    /// A document type declaration. Its identifiers are never fetched.
    public struct DocumentType: Sendable, Hashable {
        /// The expected name of the root.
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
    /// Throws `NetError.Code.badXML` with line and column (``XMLFault``) if it is not well-formed or refers to an
    /// entity. Throws `tooLarge` if it exceeds the rules, and `badCharset`.
    /// - Parameters:
    ///   - bytes: the text.
    ///   - charset: the charset known from elsewhere. A byte order mark takes precedence (RFC 7303, 3).
    ///   - rules: the limits.
    public init(_ bytes: Bytes, charset: String? = nil, rules: XMLRules = XMLRules()) throws(NetError) {
        let parser = try XMLParser(charset: charset, rules: rules)
        var builder = XMLTreeBuilder(maxNodes: rules.maxNodes)
        var start = 0
        while start < bytes.count {
            // Parses in chunks, so that the events of a large text are not all in memory beside its tree.
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
