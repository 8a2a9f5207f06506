/// A child node of an element.
public enum XMLNode: Sendable, Hashable {
    /// An element.
    case element(XMLElement)
    /// Text, including that of CDATA sections. Two text nodes are never adjacent.
    case text(String)
    /// A comment.
    case comment(String)
    /// A processing instruction.
    case instruction(target: String, data: String)
}
