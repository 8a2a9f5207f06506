// AFNetworking's idiom: a manager with a base URL, and calls like GET, POST, upload and download on it.
import NetKit
import NetKitCompat
import NetKitTesting

struct Person: Codable, Sendable {
    var name: String
}

@main
struct Main {
    static func main() async throws {
        let stub = StubTransport()
        stub.register("/get", with: .json(#"{"name": "bang"}"#))
        stub.register("/post", with: .json(#"{"name": "posted"}"#))
        stub.register("/upload", with: .status(204))
        stub.register("/file", with: .text("a file's content"))
        stub.register("/missing", with: .json(#"{"reason": "nobody"}"#, status: 404))

        // The manager.
        let agent = Agent(
            .init(baseURL: "http://httpbin.example", headers: ["X-Common": "1"]), transport: stub)

        // GET with a query.
        let person = try await agent.send(Request<Person>("get", parameters: ["q": "a b", "tags": ["x", "y"]])).value
        print("GET:", person.name, "by", stub.requests[0].query ?? "")

        // POST of a form, and of JSON: the request serializer.
        _ = try await agent.send(Request<Person>("post", method: .post, parameters: ["name": "form"]))
        var json = Request<Person>("post", method: .post, parameters: ["name": "json"])
        json.parameterPlacement = .byMethodAsJSON
        _ = try await agent.send(json)
        print("POST:", stub.requests[1].body.count, "and", stub.requests[2].body.count, "bytes")

        // A form of several parts, with progress.
        var form = MultipartBody()
        form.append("Oslo", name: "city")
        form.append(.text("picture"), name: "photo", filename: "oslo.txt")
        var upload = Request<Void>("upload", method: .post, body: try .multipart(form))
        let (handler, updates) = TransferProgress.stream()
        upload.progress = handler
        try await agent.send(upload).value
        for await _ in updates {}
        print("upload:", stub.requests[3].body.count, "bytes")

        // Download to a file.
        let saved = try await agent.download(
            Request<Bytes>("file"), to: "/tmp/netkit-af-style", options: .init(isResumable: false)
        ).value
        print("download:", saved.byteCount, "bytes")

        // The error contains the body of an unsuccessful status.
        do {
            _ = try await agent.send(Request<Person>("missing"))
            throw NetError(.internal, "404 was a success")
        } catch let error as NetError where error.code == .status {
            print("GET /missing:", error.nativeCode, error.decodedBody(as: JSONValue.self)?["reason"]?.string ?? "")
        }

        let expected = ["q=a%20b&tags%5B%5D=x&tags%5B%5D=y", "", "", "", "", ""]
        let queries = stub.requests.map { $0.query ?? "" }
        guard queries == expected, stub.requests.allSatisfy({ $0.headers["X-Common"] == "1" }) else {
            throw NetError(.internal, "unexpected queries: \(queries)")
        }
    }
}
