/// The request fields that select a response (RFC 9111, 4.1).
struct Vary: Sendable, Equatable {
    /// Names in lower case, sorted.
    let names: [String]

    /// Reads the fields of a response.
    init(_ headers: Headers) {
        let names = headers.values(named: "Vary").flatMap { FieldList.members(of: $0) }.map { $0.lowercased() }
        self.names = Set(names).sorted()
    }

    init(names: [String]) {
        self.names = names
    }

    /// Returns the selecting fields of a request, normalized so that equivalent fields are equal. A missing field stays
    /// missing.
    func fields(of request: Headers) -> Headers {
        Headers(
            names.compactMap { name in
                let values = request.byteScalars(named: name)
                let content = ByteText(byteScalars: Self.normalized(values, of: name))
                return values.isEmpty ? nil : .init(name: name, content: content)
            })
    }

    /// Normalizes the values of a field. Several fields with one name are one list (RFC 9110, 5.3), and blanks around
    /// members are ignored. Among languages, order and case are ignored too.
    private static func normalized(_ values: [String], of name: String) -> String {
        var members = values.flatMap { FieldList.members(of: $0) }
        if name == "accept-language" {
            // ASCII only: otherwise two different bytes could become equal.
            members = members.map { $0.asciiLowercased.filter { $0 != " " && $0 != "\t" } }.sorted()
        }
        return members.joined(separator: ",")
    }
}
