/// The position and reason of an XML error: the ``NetKit/NetError/underlying`` error of a parser's error.
public struct XMLFault: Error, Sendable, Hashable {
    /// The line, counted from 1; 0 if there is no position.
    public var line: Int
    /// The column, counted from 1; 0 if there is no position.
    public var column: Int
    /// The reason, in one line.
    public var reason: String

    /// Creates a fault.
    public init(line: Int, column: Int, reason: String) {
        self.line = line
        self.column = column
        self.reason = reason
    }
}
