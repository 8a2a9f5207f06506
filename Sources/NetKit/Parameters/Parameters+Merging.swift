extension Parameters {
    /// Returns these fields and those of `other` with other names. A value without fields is unchanged.
    public func filled(from other: Parameters?) -> Parameters {
        guard case .object(let fields) = self, case .object(let more) = other, !more.isEmpty else { return self }
        let names = Set(fields.map(\.name))
        return .object(fields + more.filter { !names.contains($0.name) })
    }

    /// Returns the fields that the URL's query does not contain, or `nil` if there are none.
    func without(namesIn url: String) -> Parameters? {
        guard case .object(let fields) = self else { return self }
        let names = Set(url.queryPairs.map { $0.name.cut(atFirst: "[")?.before ?? $0.name })
        let left = fields.filter { !names.contains($0.name) }
        return left.isEmpty ? nil : .object(left)
    }

    /// Whether it is an object.
    var hasFields: Bool {
        if case .object = self { true } else { false }
    }
}
