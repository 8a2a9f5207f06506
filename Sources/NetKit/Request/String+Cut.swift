extension String {
    /// What stands before and behind the first of some marks; nil without one.
    ///
    /// Marks of syntax are ASCII and looked for among scalars: "=" with a combining mark behind it is one Character, and
    /// no "=" any more, while a server sees it.
    package func cut(atFirst marks: Unicode.Scalar...) -> (before: String, mark: Unicode.Scalar, after: String)? {
        let scalars = unicodeScalars
        guard let place = scalars.firstIndex(where: marks.contains) else { return nil }
        return (String(scalars[..<place]), scalars[place], String(scalars[scalars.index(after: place)...]))
    }

    /// What stands behind a mark at the very beginning; nil when it does not begin so.
    package func behind(_ mark: Unicode.Scalar) -> String? {
        unicodeScalars.first == mark ? String(unicodeScalars.dropFirst()) : nil
    }
}
