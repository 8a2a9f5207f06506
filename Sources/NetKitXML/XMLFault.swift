#if XML
/// The position of and the reason for an XML error. It is the ``NetKit/NetError/underlying`` error of the errors that
/// ``XMLParser`` throws.
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
#endif
