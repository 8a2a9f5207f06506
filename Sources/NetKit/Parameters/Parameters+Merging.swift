extension Parameters {
    /// These fields, and those of `other` whose names do not occur here; what has no fields stays as it is.
    public func filled(from other: Parameters?) -> Parameters {
        guard case .object(let fields) = self, case .object(let more) = other, !more.isEmpty else { return self }
        let names = Set(fields.map(\.name))
        return .object(fields + more.filter { !names.contains($0.name) })
    }

    /// Those fields that the URL's query does not name already; nil where none is left.
    func without(namesIn url: String) -> Parameters? {
        guard case .object(let fields) = self else { return self }
        let names = Set(url.queryPairs.map { $0.name.cut(atFirst: "[")?.before ?? $0.name })
        let left = fields.filter { !names.contains($0.name) }
        return left.isEmpty ? nil : .object(left)
    }

    /// Whether it holds named values.
    var hasFields: Bool {
        if case .object = self { true } else { false }
    }
}
