/// An event of a parser, in document order.
public enum XMLEvent: Sendable, Hashable {
    /// The start of an element.
    case start(XMLName, attributes: [XMLAttribute], namespaces: [XMLNamespace])
    /// The end of an element.
    case end(XMLName)
    /// Text, including that of CDATA sections. A text longer than 64 KiB is split into several events.
    case text(String)
    /// A comment.
    case comment(String)
    /// A processing instruction.
    case instruction(target: String, data: String)
    /// A document type declaration. Its contents are ignored.
    case documentType(name: String, publicID: String?, systemID: String?)
}
