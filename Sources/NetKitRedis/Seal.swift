#if Redis
internal import NetKit

/// Encrypts data for the server if there is a key, and otherwise adds a checksum. Either way, changed bytes and bytes
/// of another context are detected.
///
///     without a key: 0, SHA-256 of context and data, data
///     with a key:    1, salt (16 bytes), data encrypted with the key HMAC-SHA256(key, salt), tag
struct Seal: Sendable {
    private let key: Bytes?

    /// Whether data is encrypted.
    var isSecret: Bool { key != nil }

    /// - Parameter key: 32 bytes. If `nil`, data is not encrypted.
    init(key: Bytes?) {
        self.key = key
    }

    /// Returns a name of 40 hex digits for a text. With a key, the name discloses nothing about the text.
    func name(_ text: Bytes) throws(NetError) -> String {
        let hash =
            if let key {
                try Digest.hmacSHA256(key: key, Bytes("name:") + text)
            } else {
                try Digest.of(text, .sha256)
            }
        return Bytes(Array(hash.prefix(20))).hexText
    }

    /// Returns the data for the server.
    ///
    /// - Parameter context: where the data belongs. It can be opened only with the same context.
    func closed(_ data: Bytes, _ context: Bytes) throws(NetError) -> Bytes {
        guard let key else {
            return Bytes([0]) + (try checksum(data, context)) + data
        }
        let salt = Bytes((0..<16).map { _ in UInt8.random(in: 0...255) })
        let fileKey = try Digest.hmacSHA256(key: key, Bytes("file:") + salt)
        return Bytes([1]) + salt + Bytes(try Cipher.encrypt(data, key: fileKey, context))
    }

    /// Returns the data that the server has kept, or `nil` if it is damaged or belongs to another context.
    func opened(_ sealed: Bytes, _ context: Bytes) -> Bytes? {
        guard let kind = sealed.first, kind == (key == nil ? 0 : 1) else { return nil }
        let all = [UInt8](sealed)
        guard let key else {
            guard all.count >= 33 else { return nil }
            let data = Bytes(Array(all[33...]))
            return (try? checksum(data, context)) == Bytes(Array(all[1..<33])) ? data : nil
        }
        guard all.count >= 17,
            let fileKey = try? Digest.hmacSHA256(key: key, Bytes("file:") + Bytes(Array(all[1..<17])))
        else { return nil }
        return Cipher.decrypt(Bytes(Array(all[17...])), key: fileKey, context).map { Bytes($0) }
    }

    private func checksum(_ data: Bytes, _ context: Bytes) throws(NetError) -> Bytes {
        var digest = try Digest(.sha256)
        digest.update(Bytes("\(context.count):"))
        digest.update(context)
        digest.update(data)
        return try digest.finish()
    }
}

extension Bytes {
    static func + (one: Bytes, other: Bytes) -> Bytes { Bytes([UInt8](one) + [UInt8](other)) }
}
#endif
