/// One position where a text is not the expected JSON.
public struct JSONFault: Sendable, Hashable, CustomStringConvertible {
    /// The JSON Pointer (RFC 6901) of a value that does not match a shape; empty for the whole text, truncated to 4
    /// KiB. `nil` if the text is malformed there.
    public var pointer: String?
    /// The expected element, such as "string|number" or "',' or '}'".
    public var wanted: String
    /// The actual element, such as "null", "nothing" for a missing member, or "the end of the text".
    public var found: String
    /// The byte offset, counted from 0. For a missing member, the offset of its object's closing bracket.
    public var offset: Int
    /// The line, counted from 1.
    public var line: Int
    /// The column, counted from 1 in characters.
    public var column: Int

    /// Creates a fault, for a transport or a test.
    public init(pointer: String?, wanted: String, found: String, offset: Int, line: Int = 1, column: Int = 1) {
        self.pointer = pointer
        self.wanted = wanted
        self.found = found
        self.offset = offset
        self.line = line
        self.column = column
    }

    /// One line of text, with line and column.
    public var description: String {
        let place = "line \(line), column \(column)"
        guard let pointer else { return "\(place): wanted \(wanted), found \(found)" }
        return "\(place): wanted \(wanted), found \(found), at \(pointer.isEmpty ? "the root" : pointer)"
    }
}
