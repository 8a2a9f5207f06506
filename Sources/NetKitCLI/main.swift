import NetKit
let agent = Agent()
do {
    let r = try await agent.send(Request<String>(CommandLine.arguments[1]))
    print(r.status, r.headers["Server"] ?? "-", r.value.count, r.metrics[0].ended!, Array(r.headers))
} catch { print("nk: \(error.message)") }
await agent.shutdown()
