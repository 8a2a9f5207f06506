/// Where a text is not the XML that was wanted: ``NetKit/NetError/underlying`` of what a parser throws.
public struct XMLFault: Error, Sendable, Hashable {
    /// The line, from 1; 0 where no place applies.
    public var line: Int
    /// The column, from 1; 0 where no place applies.
    public var column: Int
    /// What is wrong, in one line.
    public var reason: String

    /// A fault.
    public init(line: Int, column: Int, reason: String) {
        self.line = line
        self.column = column
        self.reason = reason
    }
}
