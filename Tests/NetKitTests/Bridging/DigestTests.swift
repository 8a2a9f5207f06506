import NetKit
import Testing

struct DigestTests {
    @Test(arguments: [
        ("", "d41d8cd98f00b204e9800998ecf8427e", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "900150983cd24fb0d6963f7d28e17f72", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ])
    func digestMatchesThePublishedVector(text: String, md5: String, sha256: String) throws {
        let bytes = Bytes(Array(text.utf8))
        #expect(try Digest.of(bytes, .md5).hexText == md5)
        #expect(try Digest.of(bytes, .sha256).hexText == sha256)
    }

    // RFC 4231, 4.2 to 4.8, without the truncated one.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0B, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func authenticationCodeMatchesTheRFC(key: [UInt8], message: String, digits: String) throws {
        let digest = try Digest.hmacSHA256(key: Bytes(key), Bytes(Array(message.utf8)))
        #expect(digest.hexText == digits)
    }

    @Test func digestCanBeReset() throws {
        var digest = try Digest(.md5)
        for _ in 0..<2 {
            digest.update(Bytes(Array("a".utf8)))
            digest.update(Bytes(Array("bc".utf8)))
            let text = try digest.finish().hexText
            #expect(text == "900150983cd24fb0d6963f7d28e17f72")
        }
    }

    @Test(arguments: [
        (Base64Alphabet.standard, "+/8="), (.url, "-_8"), (.paddedURL, "-_8="),
    ])
    func base64RoundTrips(alphabet: Base64Alphabet, text: String) throws {
        let bytes: Bytes = [0xFB, 0xFF]
        #expect(bytes.base64Text(alphabet) == text)
        #expect(try Bytes(base64Text: text, alphabet) == bytes)
        #expect(try Bytes(base64Text: "", alphabet).isEmpty)
    }

    @Test(arguments: [("-_8=", 0), ("+/8", 3), ("+/9=", 2), ("+/8 ", 3)])
    func invalidBase64IsRefusedWithItsPosition(text: String, offset: Int) throws {
        let error = try #require(throws: NetError.self) { try Bytes(base64Text: text) }
        #expect(error.code == .badCoding && error.offset == offset)
    }

    @Test func hexRoundTrips() throws {
        #expect(Bytes([0, 0x9F, 0xFF]).hexText == "009fff")
        #expect(try Bytes(hexText: "009fFF") == [0, 0x9F, 0xFF])
        let error = try #require(throws: NetError.self) { try Bytes(hexText: "0g") }
        #expect(error.code == .badCoding && error.offset == 1)
    }
}
