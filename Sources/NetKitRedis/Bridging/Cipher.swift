#if Redis
internal import LibCrypto
internal import NetKit

/// AES-256-GCM of OpenSSL.
enum Cipher {
    static let tagBytes = 16
    /// The value of the macro EVP_CTRL_AEAD_GET_TAG, which Swift does not import.
    private static let getTag: Int32 = 0x10
    /// The value of the macro EVP_CTRL_AEAD_SET_TAG.
    private static let setTag: Int32 = 0x11

    /// Encrypts bytes and returns them with their tag.
    ///
    /// - Parameter key: 32 bytes, which must not be used for anything else, because the nonce is constant.
    static func encrypt(_ bytes: Bytes, key: Bytes, _ associatedData: Bytes) throws(NetError) -> [UInt8] {
        var tag = [UInt8](repeating: 0, count: tagBytes)
        let result = run(Array(bytes), Array(key), Array(associatedData), encrypts: true, &tag)
        guard let result else { throw NetError(.internal, "OpenSSL could not encrypt") }
        return result + tag
    }

    /// Decrypts what ``encrypt(_:key:_:)`` has returned. Returns `nil` if it is not authentic.
    static func decrypt(_ bytes: Bytes, key: Bytes, _ associatedData: Bytes) -> [UInt8]? {
        guard bytes.count >= tagBytes else { return nil }
        let all = Array(bytes)
        var tag = Array(all.suffix(tagBytes))
        return run(Array(all.dropLast(tagBytes)), Array(key), Array(associatedData), encrypts: false, &tag)
    }

    private static func run(
        _ input: [UInt8], _ key: [UInt8], _ associatedData: [UInt8], encrypts: Bool, _ tag: inout [UInt8]
    ) -> [UInt8]? {
        guard key.count == 32, input.count <= Int(Int32.max) - 64, associatedData.count <= Int(Int32.max) - 64,
            let context = unsafe EVP_CIPHER_CTX_new()
        else { return nil }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        let nonce = [UInt8](repeating: 0, count: 12)
        var output = [UInt8](repeating: 0, count: input.count + 16)
        var rest = [UInt8](repeating: 0, count: 32)
        var (length, restLength): (Int32, Int32) = (0, 0)
        guard unsafe EVP_CipherInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce, encrypts ? 1 : 0) == 1,
            unsafe associatedData.isEmpty
                || EVP_CipherUpdate(context, nil, &length, associatedData, Int32(associatedData.count)) == 1
        else { return nil }
        length = 0
        if !input.isEmpty, unsafe EVP_CipherUpdate(context, &output, &length, input, Int32(input.count)) != 1 {
            return nil
        }
        if !encrypts, unsafe EVP_CIPHER_CTX_ctrl(context, setTag, Int32(tagBytes), &tag) != 1 {
            return nil
        }
        guard unsafe EVP_CipherFinal_ex(context, &rest, &restLength) == 1 else { return nil }
        if encrypts, unsafe EVP_CIPHER_CTX_ctrl(context, getTag, Int32(tagBytes), &tag) != 1 {
            return nil
        }
        output.removeLast(output.count - Int(length))
        return output
    }
}
#endif
