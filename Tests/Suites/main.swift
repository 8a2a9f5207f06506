@preconcurrency import Glibc
import NetKit

// The client that public test suites drive: reads one request a line, as JSON, and prints one response a line, in the
// order in which they arrive.
//
//     suite-client memory              responses are cached in memory, by the server's rules
//     suite-client disk DIRECTORY      responses are cached in a directory
//
// {"id":1,"method":"GET","url":"…","headers":[["name","value"]],"body":"…","follows":true}
//     {"id":1,"status":200,"headers":[["name","value"]],"body":"…"}  or  {"id":1,"error":"…"}

let words = CommandLine.arguments.dropFirst()
let store: any CacheStore
switch words.first {
case "memory" where words.count == 1: store = MemoryCacheStore()
case "disk" where words.count == 2: store = DiskCacheStore(directory: words.last ?? "")
default:
    print("usage: suite-client memory | disk DIRECTORY")
    exit(2)
}

setlinebuf(stdout)  // A runner waits for each line.
var configuration = Agent.Configuration()
configuration.interceptors = [Caching(store, rules: .http(HTTPCachePolicy()))]
let client = SuiteClient(Agent(configuration))
while let line = readLine(strippingNewline: true) {
    client.perform(line)
}
exit(0)
