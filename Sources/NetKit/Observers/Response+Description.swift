extension Response: CustomStringConvertible, CustomReflectable {
    /// One line: status, URL up to its query, fields without secrets, and the number of bytes.
    public var description: String {
        "Response(status: \(status), url: \"\(String(place).shownPath)\", headers: \(headers), bytes: \(bytes.count))"
            .printable()
    }

    /// The values of the description, and the decoded value.
    public var customMirror: Mirror {
        let shown: [(String?, Any)] = [
            ("status", status), ("url", String(place).shownPath), ("headers", headers), ("bytes", bytes.count),
            ("value", value),
        ]
        return Mirror(self, children: shown.map { (label: $0.0, value: $0.1) }, displayStyle: .struct)
    }
}
