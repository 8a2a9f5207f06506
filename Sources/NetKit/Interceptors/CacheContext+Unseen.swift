/// Credentials that are sent but are not part of the request: a client certificate, or a netrc file.
extension CacheContext {
    /// Returns true if there are any.
    func showsUnseen(_ request: Request<Bytes>) -> Bool { netrc != .off || identity(of: request) != nil }

    /// Returns them as texts for a hash. A certificate counts with its key, because alone it proves nothing. A netrc
    /// file counts as a whole, independent of the entry that is used.
    ///
    /// Throws if they are unknown: the file cannot be read, or has changed since it was first read. Connections may
    /// then have used the old content.
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

    /// Returns the client identity of the request's connections. If the request sets no trust policy, it is unknown
    /// while the agent's policy changes, and then there is no key either.
    private func identity(of request: Request<Bytes>) -> ClientIdentity? {
        trust(of: request)?.policy.identity
    }

    private static func digest(_ bytes: Bytes) throws(NetError) -> String { try Digest.of(bytes, .sha256).hexText }

    private func digest(ofFile path: String) async throws(NetError) -> String {
        let digest = try Self.digest(try await SmallFile.contents(of: path))
        // Compare bytes: two normalizations of a letter are one path for Swift but two for the system.
        let name = Array(path.utf8)
        let isAsItWas = seen.withLock { seen in
            let first = seen[name] ?? digest
            // It stays unknown, even if the file is restored.
            seen[name] = first == digest ? digest : ""
            return first == digest
        }
        if !isAsItWas {
            throw NetError(.file, "a file that tells who asks has changed, and connections may still be as it was")
        }
        return digest
    }
}
