extension String {
    /// Without the blanks and tabs around it, as a field's value.
    var trimmingBlanks: String {
        let start = drop { $0 == " " || $0 == "\t" }
        guard let end = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return String(start[...end])
    }
}
