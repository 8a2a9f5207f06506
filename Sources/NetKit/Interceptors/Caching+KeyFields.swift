/// Names of fields that select a representation and do not identify the user.
private let negotiatingNames: Set = [
    "accept", "accept-charset", "accept-encoding", "accept-language", "content-encoding", "content-type", "origin",
    "user-agent",
]

extension String {
    /// Whether a field with this name does not identify the user.
    var isNegotiating: Bool { negotiatingNames.contains(lowercased()) }
}

extension Caching {
    /// Returns selecting fields as they appear in the key. Values that may identify the user, or may be secret, are
    /// replaced by a hash: a key is stored with its response and appears in listings.
    func chosen(_ fields: some Sequence<Headers.Field>) async throws(NetError) -> [Headers.Field] {
        var chosen: [Headers.Field] = []
        for var field in fields {
            let name = field.name.lowercased()
            if !name.isNegotiating {
                field.value = Bytes(try await secret.hash(["field", name, field.content.byteScalars])).hexText
            }
            chosen.append(field)
        }
        return chosen
    }
}
