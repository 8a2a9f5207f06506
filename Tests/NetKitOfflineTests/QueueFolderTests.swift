import NetKit
import NetKitOffline
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
    private let fixture: OfflineFixture

    init() throws {
        fixture = try OfflineFixture()
    }

    /// Returns a record with this id, as a queue writes it.
    private func description(of id: Int) -> [UInt8] {
        let text =
            #"{"expiresAt":9e9,"fields":[],"id":\#(id),"keptAt":1,"method":"PUT","url":"http://a.example/\#(id)"}"#
        return Array(text.utf8)
    }

    @Test func directoryHasOneQueue() async throws {
        var first: OfflineQueue? = try fixture.queue()
        #expect(await ending(of: fixture.put("/1"), from: fixture.agent(try #require(first))) == .failed(.queued))
        let error = #expect(throws: NetError.self) { try fixture.queue() }
        #expect(error?.code == .file && error?.nativeCode == Int(EWOULDBLOCK))
        #expect(error?.message.contains("used by another queue") == true)
        #expect(first?.requests.count == 1)
        first = nil
        #expect(try await fixture.reopenedQueue().requests.count == 1)
    }

    @Test func recordWithAnotherNameIsIgnored() async throws {
        // If the queue used these files, it would send the request and then remove a file with another name.
        try fixture.folder.write(description(of: 7), to: "7.json")
        try fixture.folder.write(description(of: 8), to: "+00000000008.json")
        try fixture.folder.write(description(of: 9), to: "000000000009.json")
        let queue = try fixture.queue()
        #expect(queue.requests.map(\.id) == [9])
        await fixture.drain(queue, by: fixture.agent(queue), until: 1)
        #expect(fixture.stub.requests.map(\.path) == ["/9"] && fixture.folder.names == ["+00000000008.json", "7.json"])
    }
}
