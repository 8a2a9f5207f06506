import NetKit

// A program that imports NetKit alone: script/test looks at what it is linked to.
let agent = Agent()
await agent.shutdown()
