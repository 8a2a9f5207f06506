import NetKit

// Imports only NetKit. script/test checks the libraries that this program is linked to.
let agent = Agent()
await agent.shutdown()
