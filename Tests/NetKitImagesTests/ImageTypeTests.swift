#if Images
import NetKit
import NetKitImages
import NetKitTesting
import Testing

/// Images are recognized by their bytes, independent of the type that an object store sends.
struct ImageTypeTests {
    private let stub = StubTransport()
    private var agent: Agent { Agent(.init(baseURL: "http://stub"), transport: stub) }

    @Test(arguments: [
        "application/octet-stream", "binary/octet-stream", "Application/Octet-Stream; charset=binary", "image/x-png",
        "image/pjpeg", "image/*", "image/jpeg", "image/apng", "image/x-webp",
    ])
    func imageAndOctetStreamTypesAreAccepted(type: String) async throws {
        stub.register("*", with: .bytes(try plain(2, 2).png(), contentType: type))
        let agent = agent
        #expect(try await agent.send(Request<Image>("/")).value.width == 2)
        #expect(try await agent.send(Request<EncodedImage>("/")).value.format == .png)
        #expect(try await ImageDownloader(agent: agent).image(ImageRequest("/")).image.width == 2)
    }

    @Test(arguments: ["application/octet-stream", "image/png"])
    func nonImageBytesAreRejected(type: String) async throws {
        stub.register("*", with: .text("<html>", contentType: type))
        let agent = agent
        let error = try await #require(throws: NetError.self) { try await agent.send(Request<Image>("/")) }
        #expect(error.code != .contentType && error.response?.status == 200)
    }

    @Test(arguments: ["text/html", "application/json", "text/plain"])
    func unacceptedTypeIsAnError(type: String) async throws {
        stub.register("*", with: .bytes(try plain(2, 2).png(), contentType: type))
        let agent = agent
        let error = try await #require(throws: NetError.self) { try await agent.send(Request<Image>("/")) }
        #expect(error.code == .contentType)
    }
}
#endif
