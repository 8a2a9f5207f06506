/// One place where a text is not the JSON that was wanted.
public struct JSONFault: Sendable, Hashable, CustomStringConvertible {
    /// JSON Pointer (RFC 6901) to the value that a shape refuses, empty for the whole text and cut at 4 KiB; nil when
    /// the text is not JSON there.
    public var pointer: String?
    /// What was wanted, such as "string|number" or "',' or '}'".
    public var wanted: String
    /// What was there, such as "null", "nothing" for a missing member, or "the end of the text".
    public var found: String
    /// The byte, counted from 0; for a missing member that of the bracket that ends its object.
    public var offset: Int
    /// The byte's line, counted from 1.
    public var line: Int
    /// The byte's column, counted from 1 in characters.
    public var column: Int

    /// A fault as a transport or a test describes it.
    public init(pointer: String?, wanted: String, found: String, offset: Int, line: Int = 1, column: Int = 1) {
        self.pointer = pointer
        self.wanted = wanted
        self.found = found
        self.offset = offset
        self.line = line
        self.column = column
    }

    /// One line, with line and column.
    public var description: String {
        let place = "line \(line), column \(column)"
        guard let pointer else { return "\(place): wanted \(wanted), found \(found)" }
        return "\(place): wanted \(wanted), found \(found), at \(pointer.isEmpty ? "the root" : pointer)"
    }
}
