@preconcurrency import Glibc
import NetKit

// The client that runners of public test suites use. It reads one request per line, as JSON, and prints one response
// per line, in the order of arrival.
//
//     suite-client memory              caches responses in memory, by the server's rules
//     suite-client disk DIRECTORY      caches responses in a directory
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

setlinebuf(stdout)  // The runner waits for each line.
var configuration = Agent.Configuration()
configuration.interceptors = [Caching(store, rules: .http(HTTPCachePolicy()))]
let client = SuiteClient(Agent(configuration))
while let line = readLine(strippingNewline: true) {
    client.perform(line)
}
exit(0)
