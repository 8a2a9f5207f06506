#if Images
import NetKit
import NetKitImages
import NetKitTesting
import Testing

struct ImageDecodingTests {
    private func agent(_ bytes: Bytes, _ type: String?, status: Int = 200) -> Agent {
        let stub = StubTransport()
        stub.register("*", with: .bytes(bytes, contentType: type, status: status))
        return stub.agent
    }

    @Test(arguments: [
        "image/tiff", "image/jpeg", "image/gif", "image/png", "image/ico", "image/x-icon", "image/bmp", "image/x-bmp",
        "image/x-xbitmap", "image/x-win-bitmap", "image/webp", "Image/PNG; q=1", nil,
    ])
    func imageContentTypesAreAccepted(type: String?) async throws {
        let image = try Image(
            width: 2, height: 1, pixels: [255, 0, 0, 255, 0, 128, 255, 64])
        // The format is detected from the bytes, because servers often send a wrong type.
        let loaded = try await agent(try image.png(), type).send(Request<Image>("/")).value
        #expect(loaded == image)
    }

    @Test func imageRequestSendsParameters() async throws {
        let stub = try StubTransport(image: try plain())
        _ = try await stub.agent.send(Request<Image>("/a", parameters: ["width": 40]))
        _ = try await stub.agent.send(Request<EncodedImage>("/a", parameters: ["width": 80]))
        #expect(stub.requests.map(\.query) == ["width=40", "width=80"])
    }

    @Test(arguments: ["text/html", "application/json", "image/svg+xml", "image/heic"])
    func unacceptedTypeIsAnErrorEvenForAnEmptyBody(type: String) async throws {
        for bytes in [try plain().png(), []] {
            let error = try await failure { try await agent(bytes, type).send(Request<Image>("/")) }
            #expect(error.code == .contentType)
        }
    }

    @Test func undecodableImageIsAnError() async throws {
        let png = Array(try plain(9, 9).png())
        var broken = png
        broken[png.count - 20] ^= 0xFF
        for bytes in [[], Array("<html>".utf8), Array(png.prefix(png.count - 1)), Array(png.prefix(40)), broken] {
            let error = try await failure { try await agent(Bytes(bytes), "image/png").send(Request<Image>("/")) }
            #expect(error.code == .badImage)
            #expect(error.response?.bytes == Bytes(bytes))
        }
    }

    @Test(arguments: Array(ImageSamples.recognized))
    func unsupportedImageFormatsAreRecognizedButNotDecoded(format: ImageFormat, bytes: [UInt8]) async throws {
        let agent = agent(Bytes(bytes), format.mediaType)
        let encoded = try await agent.send(Request<EncodedImage>("/")).value
        #expect(encoded.format == format && !format.isDecoded)
        #expect(encoded.bytes == Bytes(bytes))
        let error = try await failure { try await agent.send(Request<Image>("/")) }
        #expect(error.code == .unsupported)
    }

    @Test(arguments: [("jpeg", 16, 8), ("webp", 16, 8)])
    func jpegAndWebPAreDecoded(name: String, width: Int, height: Int) async throws {
        let bytes = try #require(ImageSamples.decoded[name])
        let image = try Image(Bytes(bytes))
        #expect(image.width == width && image.height == height)
        // The left half is red, the right half blue, within the error of lossy coding.
        let (left, right) = (image[2, 4], image[13, 4])
        #expect(left[0] > 200 && left[2] < 60 && left[3] == 255)
        #expect(right[0] < 60 && right[2] > 200 && right[3] == 255)
        let encoded = try EncodedImage(Bytes(bytes))
        #expect(encoded.width == 16 && encoded.orientation == 1 && !encoded.isAnimated)
    }

    @Test func exifOrientationRotatesTheImageUnlessIgnored() throws {
        let bytes = Bytes(try #require(ImageSamples.decoded["turned"]))
        #expect(try EncodedImage(bytes).orientation == 6)
        let image = try Image(bytes)
        #expect(image.width == 8 && image.height == 16)
        // The left side becomes the top.
        #expect(image[4, 2][0] > 200 && image[4, 13][2] > 200)
        var options = ImageOptions()
        options.ignoresOrientation = true
        #expect(try Image(bytes, options).width == 16)
        // The limit of the size applies to the image as displayed.
        #expect(try Image(bytes, ImageOptions(fit: .init(width: 4, height: 100))).height == 8)
    }

    @Test func imagesAreOnlyScaledDown() throws {
        let image = try Image(
            width: 2, height: 2, pixels: [0, 0, 0, 255, 100, 0, 0, 255, 0, 200, 0, 255, 0, 0, 40, 255])
        let small = try Image(try image.png(), ImageOptions(fit: .init(width: 1, height: 1)))
        #expect(small.pixels == [25, 50, 10, 255])
        #expect(try Image(try image.png(), ImageOptions(fit: .init(width: 9, height: 9))) == image)
        let wide = try plain(300, 20).png()
        let fitted = try Image(wide, ImageOptions(fit: .init(width: 100, height: 100)))
        #expect(fitted.width == 100 && fitted.height == 7)
        #expect(fitted[99, 6] == [255, 0, 0, 255])
        var doubled = ImageOptions()
        doubled.scale = 2
        #expect(try Image(wide, doubled).pointSize == (150, 10))
    }

    @Test func limitsAreCheckedBeforeDecoding() async throws {
        let bytes = try plain(100, 10).png()
        var options = ImageOptions()
        options.maxPixels = 999
        let pixels = try await failure { try Image(bytes, options) }
        #expect(pixels.code == .tooLarge && pixels.message.contains("100 by 10"))
        options.maxPixels = 1000
        options.maxBytes = 3999
        #expect(try await failure { try Image(bytes, options) }.code == .tooLarge)
        options.fit = .init(width: 50, height: 50)
        #expect(try Image(bytes, options).byteCount == 1000)
        options.fit = .init(width: 0, height: 1)
        #expect(try await failure { try Image(bytes, options) }.code == .usage)
    }

    @Test func imageInspectionRespectsTheRequestedLimit() throws {
        // 8,000 by 8,000 pixels. The size is refused before checksums and data are read.
        let header: [UInt8] = [0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 31, 64, 0, 0, 31, 64, 8, 6, 0, 0, 0, 0, 0, 0, 0]
        let bytes = Bytes([137, 80, 78, 71, 13, 10, 26, 10] + header + [0, 0, 0, 0, 73, 69, 78, 68, 0, 0, 0, 0])
        #expect(throws: NetError.self) { try EncodedImage(bytes) }
        var options = ImageOptions()
        options.maxPixels = 64_000_000
        let encoded = try EncodedImage(bytes, options)
        #expect(encoded.width == 8_000 && encoded.height == 8_000)
        let response = Response(status: 200, headers: ["Content-Type": "image/png"], bytes: bytes)
        #expect(try response.decode(by: .encodedImage(options)).width == 8_000)
        options.maxPixels -= 1
        #expect(throws: NetError.self) { try EncodedImage(bytes, options) }
    }

    @Test func imageFromACustomDecoderIsValidated() async throws {
        #expect(try await failure { try Image(width: 2, height: 2, pixels: [0]) }.code == .usage)
        #expect(try await failure { try Image(width: 0, height: 0, pixels: []) }.code == .usage)
        #expect(try await failure { try Image(width: .max, height: 2, pixels: []) }.code == .usage)
        #expect(try await failure { try Image(width: 1, height: 1, pixels: [0, 0, 0, 0], scale: 0) }.code == .usage)
    }
}
#endif
