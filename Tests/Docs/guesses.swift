// Calls as a reader of the first page of README.md writes them, without further documentation. `script/docs snippets`
// checks that each of them compiles.
import FoundationEssentials
import NetKit

struct City: Codable, Sendable { let name: String, people: Int }
struct Problem: Codable, Sendable { let title: String }

let agent = Agent(baseURL: "https://api.example.com/v1")
let oslo = City(name: "Oslo", people: 717_710)
let (text, number, names, near) = ("os", 3, ["a": "b"], Int?.none)

func getDecoded() async throws { let c = try await agent.get("cities", as: [City].self).value; print(c) }
func postJSON() async throws { let c = try await agent.post("cities", as: City.self, json: oslo).value; print(c) }
func query() async throws { let c = try await agent.get("cities", as: [City].self, query: ["q": "os"]).value; print(c) }
func headers() async throws { _ = try await agent.get("cities", as: [City].self, headers: ["X-Device": "42"]) }
func bearer() async throws { _ = try await agent.get("me", as: City.self, credentials: .bearer("token")) }
func basic() async throws {
    _ = try await agent.get("me", as: City.self, credentials: .basic(user: "ada", password: "secret"))
}
func timeoutPerCall() async throws { _ = try await agent.get("slow", as: City.self, timeout: .seconds(5)) }
func timeoutPerAgent() { let a = Agent(baseURL: "https://a.example", timeout: .seconds(10)); print(a) }
func retry() { let a = Agent(baseURL: "https://a.example", interceptors: [Retry(maxRetries: 3)]); print(a) }
func isCancelled() async {
    do throws(NetError) { _ = try await agent.get("x", as: City.self) } catch { if error.isCancelled { return } }
}
func errorStatus() async {
    do throws(NetError) { _ = try await agent.get("x", as: City.self) } catch { if error.status == 404 { return } }
}
func errorBody() async {
    do throws(NetError) { _ = try await agent.get("x", as: City.self) } catch {
        let p: Problem? = error.decodedBody(as: Problem.self); print(p as Any)
    }
}
func errorText() async {
    do throws(NetError) { _ = try await agent.get("x", as: City.self) } catch { print(error.response?.text ?? "") }
}
func errorTimeout() async {
    do throws(NetError) { _ = try await agent.get("x", as: City.self) } catch { if error.code == .timeout { return } }
}
func uploadFile() async throws { _ = try await agent.upload(file: "/tmp/a.jpg", to: "photos") }
func multipart() async throws {
    var form = MultipartBody(); form.append("summer", name: "title"); form.append(.file("/tmp/a.jpg"), name: "photo");
    _ = try await agent.post("photos", multipart: form)
}
func urlForm() async throws {
    _ = try await agent.post("login", as: City.self, form: ["user": "ada", "password": "x"])
}
func download() async throws { _ = try await agent.download("big.zip", to: "/tmp/big.zip") }
func downloadProgress() async throws {
    _ = try await agent.download("big.zip", to: "/tmp/big.zip") { progress in print(progress.fractionCompleted ?? 0) }
}
func streamLines() async throws { for try await line in try await agent.stream("log").lines { print(line) } }
func streamBytes() async throws { for try await chunk in try await agent.stream("log") { print(chunk.count) } }
func sse() async throws { for try await event in try await agent.stream("feed").events { print(event.data) } }
func webSocket() async throws {
    let s = try await agent.webSocket("chat"); try await s.send("hi"); for try await m in s.messages { print(m) }
}
func cookies() { let a = Agent(baseURL: "https://a.example", cookies: .memory); print(a) }
func cachePerCall() async throws { _ = try await agent.get("cities", as: [City].self, caching: .off) }
func cachePerAgent() {
    let a = Agent(baseURL: "https://a.example", interceptors: [Caching(DiskCacheStore(directory: "/tmp/cache"))]);
    print(a)
}
func pinning() throws {
    let a = Agent(
        baseURL: "https://a.example",
        trust: try .pinned("a.example", ["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]));
    print(a)
}
func proxy() { let a = Agent(baseURL: "https://a.example", proxy: "http://proxy:8080"); print(a) }
func noRedirects() { var r = Request<Data>("old"); r.redirects = .return; print(r) }
func customDecoder() { var a = Agent.Configuration(); a.json.keys = .snakeCase; print(a) }
func dates() { var a = Agent.Configuration(); a.json.dates = .iso8601; print(a) }
func pagination() async throws { for try await c in agent.pages(of: Request<[City]>("cities")) { print(c) } }
func batch() async throws {
    let r = try await agent.send(Batch(Request<City>("a"), Request<City>("b"))).values; print(r)
}
func parallel() async throws {
    async let a = agent.get("a", as: City.self); async let b = agent.get("b", as: City.self);
    print(try await (a.value, b.value))
}
func concurrency() { var a = Agent.Configuration(); a.maxInFlight = 4; print(a) }
func logging() { let a = Agent(baseURL: "https://a.example", observers: [RequestLog { print($0) }]); print(a) }
func pathSegments() async throws { let r = try await agent.get("cities/\(oslo.name)", as: City.self); print(r.value) }
func head() async throws { let r = try await agent.head("cities"); print(r.headers["Content-Length"] ?? "") }
func put() async throws { _ = try await agent.put("cities/1", as: City.self, json: oslo) }
func patch() async throws { _ = try await agent.patch("cities/1", as: City.self, json: ["people": 3]) }
func delete() async throws { _ = try await agent.delete("cities/1") }
func rawBytes() async throws { let d: Data = try await agent.get("logo.png").bytes.data; print(d) }
func text() async throws { let t = try await agent.get("motd").text; print(t) }
func textAs() async throws { let t: String = try await agent.get("motd", as: String.self).value; print(t) }
func responseHeader() async throws {
    let r = try await agent.get("x", as: City.self); print(r.headers["ETag"] ?? "none")
}
func location() async throws {
    let r = try await agent.post("cities", json: oslo); print(r.headers["Location"] ?? "", r.url)
}
func status() async throws { let r = try await agent.get("x"); if r.status == 200 { print(r) } }
func isSuccess() async throws { let r = try await agent.get("x"); if r.isSuccess { print(r) } }
func decodeLater() async throws { let r = try await agent.get("x"); print(try r.decode(City.self)) }
func jsonAny() async throws { let j = try await agent.get("x").json(); print(j) }
func clientCertificate() {
    var t = TrustPolicy(); t.identity = .file(certificate: "/c.pem", key: "/k.pem");
    print(Agent(baseURL: "https://a.example", trust: t))
}
func insecure() { let a = Agent(baseURL: "https://localhost:8443", trust: .insecure); print(a) }
func interceptorGeneric() {
    struct Stamp: Interceptor {
        func intercept(_ call: Call, next: Next) async throws -> ChainResponse {
            var call = call; call.request.headers["X"] = "1"; return try await next(call)
        }
    }; print(Stamp())
}
func defaultHeaders() { let a = Agent(baseURL: "https://a.example", headers: ["User-Agent": "demo/1"]); print(a) }
func sendEndpoint() async throws {
    struct Add: Endpoint {
        typealias Value = City; var path: String { "cities" }; var method: Method { .post };
        var body: Body? { get throws { try .json(oslo) } }
    }; print(try await agent.send(Add()).value)
}
func etag() async throws { let r = try await agent.get("x", as: City.self); print(r.isFromCache) }
func cancelTask() async throws { let t = Task { try await agent.get("x", as: City.self) }; t.cancel() }
func mixedQuery() async throws { try await agent.get("x", query: ["q": text, "n": number, "near": near]) }
func queryOfADictionary() async throws { try await agent.get("x", query: names) }
func queryOfAValue() async throws { try await agent.get("x", query: oslo) }
func mixedJSON() async throws { try await agent.post("x", json: ["name": text, "people": number]) }
func nestedJSON() async throws { try await agent.post("x", json: ["city": ["name": "a", "people": 1]]) }
func inferredType() async throws { let cities: [City] = try await agent.get("cities").value; print(cities) }
func everyArgument() async throws {
    try await agent.post(
        "x", query: names, json: oslo, headers: ["A": "b"], credentials: .bearer("t"), caching: .off,
        timeout: .seconds(3)
    ) { print($0.sent) }
}
func readLater() async throws {
    let r = try await agent.get("x"); print(r.text, try r.json()["a"] as Any, try r.decode() as City)
}
func errorProperties() async {
    do throws(NetError) { try await agent.get("x") } catch {
        print(
            error.isTimeout, error.isCancelled, error.response?.text ?? "",
            (try? error.response?.decode(Problem.self)) as Any)
    }
}
func insecureAgent() {
    print(
        Agent(
            baseURL: "https://localhost", redirects: .return, trust: .insecure, proxy: "http://p:1", cookies: .memory,
            json: JSONCoding(), interceptors: [Retry()]))
}
func typedMessages() async throws {
    for try await city in try await agent.webSocket("x", headers: ["A": "b"]).messages(as: City.self) { print(city) }
}
func typedUpload() async throws {
    print(try await agent.upload(file: URL(filePath: "/a"), to: "x", as: City.self, method: .put).value)
}
func streamWithHeaders() async throws {
    for try await line in try await agent.stream("x", query: ["n": number], headers: ["A": "b"]).lines { print(line) }
}
func connectionsPerHost() { var a = Agent.Configuration(); a.maxConnectionsPerHost = 4; print(a) }
func ownDecoder() {
    let decoder = JSONDecoder(); decoder.dateDecodingStrategy = .secondsSince1970; var a = Agent.Configuration();
    a.json.decoder = decoder; print(a, Decoding<City>.json(decoder))
}
func unixSocket() {
    var a = Agent.Configuration(baseURL: "http://localhost/v1.43"); a.unixSocket = "/var/run/docker.sock"; print(a)
}
func statusesOfTheAgent() {
    var a = Agent.Configuration(); a.acceptedStatuses = .any; a.acceptedStatuses = [200, 404]; print(a)
}
func statusesOfARequest() {
    var r = Request<String>("x"); r.acceptedStatuses = [200, 404]; r.acceptedStatuses = 200..<500;
    r.acceptedStatuses = [200..<300, 304..<305]; r.acceptedStatuses = 200...299; r.acceptedStatuses = .any; print(r)
}
func retryStatuses() {
    print(Retry(maxRetries: 5, baseDelay: .milliseconds(200), maxDelay: .seconds(10), statuses: [429, 502, 503]))
}
func retryCondition() {
    var r = Request<String>("jobs", method: .post);
    r.interceptors = [
        Retry(maxRetries: 3) { error in error.code == .refused }, Retry(methods: [.get, .post]) { $0.isTimeout },
    ]; print(r)
}
func limits() -> [any Interceptor] {
    [RateLimit(10, per: .seconds(1)), CircuitBreaker(failures: 5, resetAfter: .seconds(30))]
}
func proxyWithUser() {
    print(
        Proxy(
            "socks5://p:1080", credentials: .basic(user: "ada", password: "secret"),
            bypass: ["localhost", "*.internal"]))
}
func authorities() {
    var a = Agent.Configuration(); a.trust = .caFile("/etc/app/ca.pem"); a.trust.minimumVersion = .tls13;
    a.trust.identity = .file(certificate: "/c.pem", key: "/k.pem", password: "pw"); print(a)
}
func cookieJar() async throws {
    try agent.cookies.set(Cookie(name: "session", value: "abc", domain: "api.example.com"))
    for c in try await agent.cookies.all() { print(c.name, c.value, c.expires ?? .distantFuture) }
    try agent.cookies.removeAll()
}
func webSocketInOneLine() async throws {
    let line = "hello"
    let socket = try await agent.webSocket("x", headers: ["A": "b"], protocols: ["v2"], pingInterval: .seconds(20))
    try await socket.send(line); try await socket.send(Data([1, 2, 3])); try await socket.send(json: oslo)
    switch try await socket.receive() {
    case .text(let text): print(text)
    case .binary(let bytes): print(bytes.count)
    }
    let message = try await socket.receive(); print(message.text ?? "", message.data?.count ?? 0)
    try await socket.ping(); try await socket.close(code: .normal, reason: "bye")
}
func logLevel() { print(RequestLog(level: .bodies) { line in print(line) }) }
func timings() async throws {
    let m = try await agent.get("x").metrics;
    print(m.dns as Any, m.connect as Any, m.tls as Any, m.firstByte as Any, m.total as Any, m.last?.isReused as Any)
}
struct Search: Endpoint {
    typealias Value = [City]
    let q: String, page: Int
    var path: String { "cities/search" }
    var query: Parameters { ["q": q, "page": page] }
    var timeout: Duration? { .seconds(5) }
    var credentials: Credentials? { .bearer("token") }
}
func endpointWithQuery() async throws { print(try await agent.send(Search(q: text, page: number)).value) }
func requestWithQuery() async throws {
    let r = Request<[City]>("cities", query: ["per_page": 50]);
    for try await page in agent.pages(of: r, by: .number()) { print(page.value) }
}
func requestWithMethodQueryAndHeaders() async throws {
    let r = Request<City>("cities", method: .post, query: ["q": text, "n": number], headers: ["A": "b"]); print(r.url)
}
func changedQuery() async throws {
    var r = Request<String>("cities"); r.query["dryRun"] = "true"; r.query["n"] = number; print(r.query);
    r.query = ["q": text]; r.query = ["q": "os"]
}
func streamedPost() async throws {
    let stream = try await agent.stream("chat", method: .post, json: ["prompt": "hi"]);
    for try await city in stream.lines(as: City.self) { print(city.name) }
}
func streamedConversation() async throws {
    let stream = try await agent.stream(
        "chat", method: .post, json: ["stream": true, "messages": [["role": "user", "content": "hi"]]],
        headers: ["A": "b"], credentials: .bearer("t"), timeout: .seconds(60));
    for try await event in stream.events where event.name == "delta" { print(try event.decode(City.self).name) }
}
func streamedChunks() async throws {
    let stream = try await agent.stream("large.bin"); print(stream.status, stream.headers["Content-Type"] ?? "");
    for try await chunk in stream { print(chunk.count) }
}
func serverSentEvents() async throws {
    for try await event in agent.serverSentEvents("news", lastEventID: "41") {
        print(event.name, event.id, event.data);
        if event.name == "end" { break }
    }
}
func returnedRedirect() async throws {
    let r = try await agent.get("old", redirects: .return); print(r.status, r.headers["Location"] ?? "")
}
func options() async throws { print(try await agent.options("cities").headers["Allow"] ?? "") }
func uploadData() async throws {
    let r = try await agent.upload(Data([1, 2]), to: "photos/1", method: .put) { print($0.sent, $0.total ?? 0) };
    print(r.isSuccess)
}
func typedDataUpload() async throws {
    print(try await agent.upload(Data([1, 2]), to: "photos", as: City.self) { print($0.total ?? 0) }.value)
}
func uploadFileByPut() async throws {
    let r = try await agent.upload(
        file: "/tmp/a.jpg", to: "photos/1", method: .put, headers: ["Content-Type": "image/jpeg"]
    ) { print($0.sent, $0.total ?? 0) }; print(r.status)
}
func downloadFromTheStart() async throws {
    let r = try await agent.download(
        "large.iso", to: "/tmp/large.iso", resume: false, overwrite: true, maxBytes: 1_000_000_000);
    print(r.status)
}
func checkedDownload() async throws {
    let r = try await agent.download("large.iso", to: "/tmp/large.iso", checksum: .sha256("ab12")) {
        print(($0.fractionCompleted ?? 0) * 100, $0.bytesPerSecond)
    }; print(r.value.path, r.status)
}
func curl() { print(Request<String>("cities").curl) }
func gzip() async throws { try await agent.post("logs", body: .json(["line": "hello"]).gzipped()) }
func oneRetry() async throws { print(try await agent.get("cities", as: [City].self, retries: 3).value) }
func noRetry() async throws { try await agent.post("orders", json: ["id": 1], retries: .never) }
func acceptedStatuses() async throws {
    let r = try await agent.get("cities/99", acceptedStatuses: [200, 404]); print(r.status == 404)
}
func retriesOfARequest() { var request = Request<City>("cities/1"); request.retries = 2; print(request.retries) }
func emptiedStore() async throws { try await MemoryCacheStore().removeAll() }
func jsonPath() async throws {
    let json = try await agent.get("cities/oslo").json();
    print(json["name"].string ?? "", json["districts"][0]["name"].string ?? "", json["people"].int ?? 0)
}
func jsonPathOfTheValue() async throws { print(try await agent.get("cities/oslo").value["tags"][0].string ?? "") }
func fileInAForm() async throws {
    var form = MultipartBody(); form.append(Data([1]), name: "photo", filename: "a.png", contentType: "image/png");
    try await agent.post("photos", multipart: form)
}
