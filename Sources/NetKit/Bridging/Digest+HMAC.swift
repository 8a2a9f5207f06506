extension Digest {
    /// Returns the HMAC-SHA256 (RFC 2104): 32 bytes that only holders of the key can compute.
    ///
    /// - Throws: ``NetError/Code/unsupported`` if OpenSSL does not have the algorithm.
    public static func hmacSHA256(key: Bytes, _ message: Bytes) throws(NetError) -> Bytes {
        let blockBytes = 64
        var block = Array(key)
        if block.count > blockBytes {
            block = Array(try of(key, .sha256))
        }
        block += [UInt8](repeating: 0, count: blockBytes - block.count)
        var digest = try Digest(.sha256)
        digest.update(Bytes(block.map { $0 ^ 0x36 }))
        digest.update(message)
        let inner = try digest.finish()
        digest.update(Bytes(block.map { $0 ^ 0x5C }))
        digest.update(inner)
        return try digest.finish()
    }
}
