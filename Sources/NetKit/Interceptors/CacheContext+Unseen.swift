/// What a request is sent with that tells who asks, and does not stand in it: a client certificate, a netrc file.
extension CacheContext {
    /// Whether there is any.
    func showsUnseen(_ request: Request<Bytes>) -> Bool { netrc != .off || identity(of: request) != nil }

    /// It, as texts that go into a hash. A certificate counts with its key, for it alone proves nothing; a netrc file
    /// counts as a whole, whichever of its lines is shown.
    ///
    /// Throws where it is not known: a file that cannot be read, or one that has changed since it was read first, so that
    /// connections may have been opened with it as it was.
    func unseenCredentials(of request: Request<Bytes>) async throws(NetError) -> [String] {
        var unseen: [String] = []
        if let identity = identity(of: request) {
            switch identity.source {
            case .texts(let certificate, let key):
                unseen += ["certificate", try Self.digest(Bytes(certificate)), try Self.digest(Bytes(key))]
            case .files(let certificate, let key):
                unseen += ["certificate", try await digest(ofFile: certificate)]
                unseen.append(key.isEmpty ? try Self.digest([]) : try await digest(ofFile: key))
            }
            unseen.append(identity.password)
        }
        if netrc != .off {
            guard let path = netrc.knownPath else { throw NetError(.file, "nobody knows where .netrc is") }
            unseen += ["netrc", try await digest(ofFile: path)]
        }
        return unseen
    }

    /// What its connections show: to a call that does not say, nobody knows while the agent's policy changes, and then
    /// there is no key either.
    private func identity(of request: Request<Bytes>) -> ClientIdentity? {
        trust(of: request)?.policy.identity
    }

    private static func digest(_ bytes: Bytes) throws(NetError) -> String { try Digest.of(bytes, .sha256).hexText }

    private func digest(ofFile path: String) async throws(NetError) -> String {
        let digest = try Self.digest(try await SmallFile.contents(of: path))
        // By its bytes: to Swift two spellings of a letter are one path, to the system two.
        let name = Array(path.utf8)
        let isAsItWas = seen.withLock { seen in
            let first = seen[name] ?? digest
            // It stays unknown, even when it is put back.
            seen[name] = first == digest ? digest : ""
            return first == digest
        }
        if !isAsItWas {
            throw NetError(.file, "a file that tells who asks has changed, and connections may still be as it was")
        }
        return digest
    }
}
