/// What a parser meets, in the order of the text.
public enum XMLEvent: Sendable, Hashable {
    /// An element begins.
    case start(XMLName, attributes: [XMLAttribute], namespaces: [XMLNamespace])
    /// An element ends.
    case end(XMLName)
    /// Text, that of CDATA sections too; one that is longer than 64 KiB comes in several pieces.
    case text(String)
    /// A comment.
    case comment(String)
    /// A processing instruction.
    case instruction(target: String, data: String)
    /// A document type declaration. What it declares is left alone.
    case documentType(name: String, publicID: String?, systemID: String?)
}
