import NetKit
import NetKitTesting
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Ownership of a queue's directory, and foreign files in it.
@Suite(.timeLimit(.minutes(5)))
struct QueueFolderTests {
    private let scene: OfflineScene

    init() throws {
        scene = try OfflineScene()
    }

    /// Returns a record with this id, as a queue writes it.
    private func description(of id: Int) -> [UInt8] {
        let text =
            #"{"expiresAt":9e9,"fields":[],"id":\#(id),"keptAt":1,"method":"PUT","url":"http://a.example/\#(id)"}"#
        return Array(text.utf8)
    }

    @Test func aFolderHasOneQueueAtATime() async throws {
        var first: OfflineQueue? = try scene.queue()
        #expect(await ending(of: scene.put("/1"), from: scene.agent(try #require(first))) == .failed(.queued))
        let error = #expect(throws: NetError.self) { try scene.queue() }
        #expect(error?.code == .file && error?.nativeCode == Int(EWOULDBLOCK))
        #expect(error?.message.contains("used by another queue") == true)
        #expect(first?.requests.count == 1)
        first = nil
        #expect(try scene.queue().requests.count == 1)
    }

    @Test func aDescriptionUnderAnotherNameIsLeftAlone() async throws {
        // Otherwise the queue would send the request and then remove a file of another name.
        try scene.folder.write(description(of: 7), to: "7.json")
        try scene.folder.write(description(of: 8), to: "+00000000008.json")
        try scene.folder.write(description(of: 9), to: "000000000009.json")
        let queue = try scene.queue()
        #expect(queue.requests.map(\.id) == [9])
        await scene.drain(queue, by: scene.agent(queue), until: 1)
        #expect(scene.stub.requests.map(\.path) == ["/9"] && scene.folder.names == ["+00000000008.json", "7.json"])
    }
}
