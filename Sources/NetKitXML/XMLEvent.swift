#if XML
/// An event of an ``XMLParser``. Events are in document order.
public enum XMLEvent: Sendable, Hashable {
    /// The start of an element.
    case start(XMLName, attributes: [XMLAttribute], namespaces: [XMLNamespace])
    /// The end of an element.
    case end(XMLName)
    /// Text, including the text of CDATA sections. A text that is longer than 64 KiB is split into several events.
    case text(String)
    /// A comment.
    case comment(String)
    /// A processing instruction.
    case instruction(target: String, data: String)
    /// A document type declaration. Its contents are ignored.
    case documentType(name: String, publicID: String?, systemID: String?)
}
#endif
