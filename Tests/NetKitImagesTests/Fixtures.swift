#if Images
import NetKit
import NetKitImages
import NetKitTesting
import Testing

/// Returns an image of one colour.
func plain(_ width: Int = 2, _ height: Int = 2, _ colour: [UInt8] = [255, 0, 0, 255]) throws -> Image {
    try Image(width: width, height: height, pixels: (0..<width * height).flatMap { _ in colour })
}

func failure(_ body: () async throws -> some Any) async throws -> NetError {
    try #require(await #expect(throws: NetError.self) { _ = try await body() })
}

extension StubTransport {
    /// An agent that uses this stub as its transport.
    var agent: Agent { Agent(.init(baseURL: "http://stub"), transport: self) }

    /// Creates a stub that responds to every request with this image.
    convenience init(image: Image) throws {
        self.init()
        register("*", with: .bytes(try image.png(), contentType: "image/png"))
    }
}
#endif
