extension HTTPSide {
    /// Removes the response that was found, and no other that stands under the same URL.
    func remove(_ look: CacheLook) async throws(NetError) {
        guard let piece = look.stored, !policy.isReadOnly else { return }
        try await caching.store(for: request).remove(piece.key)
    }

    /// Takes what is stored for a URL out of reach, for this user and for those who showed nothing.
    func forget(_ url: String) async {
        let store = caching.store(for: request)
        if let key = try? await key(of: url) {
            _ = try? await store.remove(key)
        }
        for scope in [try? await caching.scopeOfNobody(in: request), ""].compactMap({ $0 }) {
            if let key = try? key(of: url, in: scope) {
                _ = try? await store.remove(key)
            }
        }
    }
}
