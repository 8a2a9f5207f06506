import NetKit
import Synchronization

/// Sends the requests of a test suite with one agent and prints the responses. Thread-safe.
final class SuiteClient: Sendable {
    private let agent: Agent
    private let output = Mutex(())

    init(_ agent: Agent) {
        self.agent = agent
    }

    /// Starts one command. Prints its result when it arrives.
    func perform(_ line: String) {
        guard let command = try? JSONValue(parsing: line), let id = command["id"]?.int else {
            return print([("id", 0), ("error", .string("not a command: \(line)"))])
        }
        Task { await fetch(command, id: id) }
    }

    private func fetch(_ command: JSONValue, id: Int) async {
        var fields: [Headers.Field] = []
        for pair in command["headers"]?.array ?? [] {
            fields.append(.init(name: pair[0]?.string ?? "", value: pair[1]?.string ?? ""))
        }
        var request = Request<Bytes>(
            command["url"]?.string ?? "", method: Method(rawValue: command["method"]?.string ?? "GET"),
            headers: Headers(fields), decoding: .bytes, acceptedStatuses: .any)
        request.body = command["body"]?.string.map {
            Body(Bytes(Array($0.utf8)), contentType: "text/plain;charset=UTF-8")
        }
        if command["follows"]?.bool == false {
            request.redirects = .return
        }
        do {
            let response = try await agent.send(request)
            let headers = response.headers.map { JSONValue.array([.string($0.name), .string($0.value)]) }
            print([
                ("id", .init(id)), ("status", .init(response.status)), ("headers", .array(headers)),
                ("body", .string(String(decoding: response.bytes, as: UTF8.self))),
            ])
        } catch {
            print([("id", .init(id)), ("error", .string("\(error)"))])
        }
    }

    private func print(_ members: [(String, JSONValue)]) {
        let object = JSONValue.object(members.map { .init(name: $0, value: $1) })
        output.withLock { _ in Swift.print(object) }
    }
}

extension JSONValue {
    fileprivate init(_ integer: Int) {
        self.init(integerLiteral: integer)
    }
}
