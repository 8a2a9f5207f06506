extension HTTPSide {
    /// Returns true if the response replaces the stored one: a full response does (RFC 9111, 4.3.3). After a server
    /// failure the stored one may still be used. Some statuses describe a part, a proxy or a temporary state, and not
    /// the resource.
    func isSuperseded(by response: Response<Bytes>) -> Bool {
        let others = [206, 304, 407, 408, 421, 425, 429]
        return request.method == .get && (200..<500).contains(response.status) && !others.contains(response.status)
    }

    /// Removes the response that was found, and no other one of the same URL.
    func remove(_ look: CacheLook) async throws(NetError) {
        guard let key = look.key, !policy.isReadOnly, look.stored != nil || policy.ignoresStored else { return }
        // With other selecting fields, the same request may match an older response behind it.
        for _ in 0...VariantIndex.maximumChoices {
            guard case .success(let piece) = await found(key), isFor(look.owner, piece) else { return }
            try await caching.store(for: request).remove(piece.key)
            if piece.key == key {
                return
            }
        }
    }

    /// Invalidates the stored responses of a URL, for this user and for requests without credentials, coded or not.
    func forget(_ url: String) async {
        for side in others + [self] {
            await side.forgetOwn(url)
        }
    }

    /// Evaluators whose responses are stored separately and are invalidated together.
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
        return requests.dropFirst().map {
            HTTPSide(policy: policy, request: $0, caching: caching, context: context, budget: budget)
        }
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

    /// Invalidates a key, including responses that are in flight.
    private func forget(_ key: CacheKey) async {
        caching.changes.add(key)
        _ = try? await caching.store(for: request).remove(key)
    }
}
