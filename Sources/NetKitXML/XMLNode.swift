/// What stands in an element.
public enum XMLNode: Sendable, Hashable {
    /// An element.
    case element(XMLElement)
    /// Text, that of CDATA sections too; two never stand side by side.
    case text(String)
    /// A comment.
    case comment(String)
    /// A processing instruction.
    case instruction(target: String, data: String)
}
