/// Names of fields that say what is wanted, and nothing of who wants it.
private let negotiatingNames: Set = [
    "accept", "accept-charset", "accept-encoding", "accept-language", "content-encoding", "content-type", "origin",
    "user-agent",
]

extension String {
    /// Whether a field of this name says nothing of who asks.
    var isNegotiating: Bool { negotiatingNames.contains(lowercased()) }
}

extension Caching {
    /// Fields that choose an answer, as they stand in its key: a hash in the place of each value that may tell who asks,
    /// or be a secret, because a key is kept beside the answer and shown to whoever lists the store.
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
