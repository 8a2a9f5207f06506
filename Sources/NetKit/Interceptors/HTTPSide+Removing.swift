extension HTTPSide {
    /// A full response leaves nothing older of any use (RFC 9111, 4.3.3). For a server that fails what is stored may stand
    /// in, and some statuses speak of a part, of a proxy or of the moment, and not of what was asked for.
    func isSuperseded(by response: Response<Bytes>) -> Bool {
        let others = [206, 304, 407, 408, 421, 425, 429]
        return request.method == .get && (200..<500).contains(response.status) && !others.contains(response.status)
    }

    /// Removes the response that was found, and no other that stands under the same URL.
    func remove(_ look: CacheLook) async throws(NetError) {
        guard let key = look.key, !policy.isReadOnly, look.stored != nil || policy.ignoresStored else { return }
        // By other fields that choose, the same request may find an older one behind it.
        for _ in 0...VariantIndex.maximumChoices {
            guard case .success(let piece) = await found(key), isFor(look.owner, piece) else { return }
            try await caching.store(for: request).remove(piece.key)
            if piece.key == key {
                return
            }
        }
    }

    /// Takes what is stored for a URL out of reach, for this user and for those who showed nothing, coded or not.
    func forget(_ url: String) async {
        for side in others + [self] {
            await side.forgetOwn(url)
        }
    }

    /// Those whose answers are apart from this one's, and are changed with them.
    private var others: [HTTPSide] {
        var requests = [request]
        if request.trust != nil {
            // The agent's other requests.
            requests.append(request)
            requests[1].trust = nil
        }
        for index in requests.indices {
            var request = requests[index]
            request.acceptsCodings.toggle()
            requests.append(request)
        }
        return requests.dropFirst().map { HTTPSide(policy: policy, request: $0, caching: caching, context: context) }
    }

    private func forgetOwn(_ url: String) async {
        if let key = try? await key(of: url) {
            await forget(key)
        }
        for scope in [try? await caching.scopeOfNobody(in: request), ""].compactMap({ $0 }) {
            if let key = try? key(of: url, in: scope) {
                await forget(key)
            }
        }
    }

    /// Also what is on its way there.
    private func forget(_ key: CacheKey) async {
        caching.changes.add(key)
        _ = try? await caching.store(for: request).remove(key)
    }
}
