import NetKit
import Testing

@Test func anAgentWithoutAServerSaysThatItWasRefused() async {
    let agent = Agent()
    let error = await #expect(throws: NetError.self) { try await agent.send(Request<Bytes>("http://127.0.0.1:1/")) }
    #expect(error?.code == .refused)
}
