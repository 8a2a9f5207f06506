extension String {
    /// Returns the text before and after the first of these marks, or `nil` without one.
    ///
    /// Marks of syntax are ASCII and are searched among scalars. "=" with a combining mark after it is one Character
    /// and does not equal "=", but a server sees the "=".
    package func cut(atFirst marks: Unicode.Scalar...) -> (before: String, mark: Unicode.Scalar, after: String)? {
        let scalars = unicodeScalars
        guard let place = scalars.firstIndex(where: marks.contains) else { return nil }
        return (String(scalars[..<place]), scalars[place], String(scalars[scalars.index(after: place)...]))
    }

    /// Returns the text after a mark at its beginning, or `nil` if it does not begin with the mark.
    package func behind(_ mark: Unicode.Scalar) -> String? {
        unicodeScalars.first == mark ? String(unicodeScalars.dropFirst()) : nil
    }
}
