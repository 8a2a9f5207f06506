#if XML
/// A child node of an element.
public enum XMLNode: Sendable, Hashable {
    /// An element.
    case element(XMLElement)
    /// Text, including the text of CDATA sections. After parsing, text nodes are never adjacent.
    case text(String)
    /// A comment.
    case comment(String)
    /// A processing instruction.
    case instruction(target: String, data: String)
}
#endif
