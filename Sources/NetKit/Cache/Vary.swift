/// The fields of a request that chose a response (RFC 9111, 4.1).
struct Vary: Sendable, Equatable {
    /// Names in lower case, in the order of the alphabet.
    let names: [String]

    /// What a response says.
    init(_ headers: Headers) {
        let names = headers.values(named: "Vary").flatMap { FieldList.members(of: $0) }.map { $0.lowercased() }
        self.names = Set(names).sorted()
    }

    init(names: [String]) {
        self.names = names
    }

    /// The chosen fields of a request, each with a value that is the same for fields that mean the same. One that is
    /// missing is missing here.
    func fields(of request: Headers) -> Headers {
        Headers(
            names.compactMap { name in
                let values = request.byteScalars(named: name)
                let content = ByteText(byteScalars: Self.normalized(values, of: name))
                return values.isEmpty ? nil : .init(name: name, content: content)
            })
    }

    /// Several fields of a name are one list (RFC 9110, 5.3), blanks around its members mean nothing, and among
    /// languages neither order nor case does.
    private static func normalized(_ values: [String], of name: String) -> String {
        var members = values.flatMap { FieldList.members(of: $0) }
        if name == "accept-language" {
            // By ASCII alone: beyond it two bytes that differ would become one.
            members = members.map { $0.asciiLowercased.filter { $0 != " " && $0 != "\t" } }.sorted()
        }
        return members.joined(separator: ",")
    }
}
