import FoundationEssentials
import NetKit

/// Replies by a document, and reports each request.
final class MockService: Serving {
    private struct State: Sendable {
        /// For each route, the number of replies sent.
        var given: [Int]
        /// For each connection, the reply chosen for its current request.
        var chosen: [Int: (route: Int?, status: Int)] = [:]
        var count = 0
        var replies = 0
    }

    private let document: MockDocument
    private let tell: @Sendable (String, Int) -> Void
    private let hasReplied: @Sendable (Int) -> Void
    private let state: Lock<State>

    /// - Parameters:
    ///   - tell: called with a line of JSON for each request, and the request's number, counted from 1.
    ///   - replied: called with the number of replies sent.
    init(
        _ document: MockDocument, tell: @escaping @Sendable (String, Int) -> Void,
        replied: @escaping @Sendable (Int) -> Void
    ) {
        self.document = document
        self.tell = tell
        hasReplied = replied
        state = Lock(State(given: document.routes.map { _ in 0 }))
    }

    func reply(to request: ServedRequest?, connection: Int) -> ServedReply {
        guard let request else { return .page(431, "the head is too large") }
        let route = document.routes.firstIndex { $0.matches(request) }
        let reply = state.withLock { state in
            let reply = route.map { route -> MockDocument.Reply in
                let replies = document.routes[route].replies
                let number = state.given[route]
                state.given[route] += 1
                let index = document.routes[route].cycles ? number % replies.count : min(number, replies.count - 1)
                return replies[index]
            }
            state.chosen[connection] = (route, (reply ?? document.otherwise).status)
            return reply ?? document.otherwise
        }
        return ServedReply(reply)
    }

    func replied(connection: Int) {
        hasReplied(
            state.withLock { state in
                state.replies += 1
                return state.replies
            })
    }

    func received(_ bytes: [UInt8], of length: Int, connection: Int) {
        let separator = Array("\r\n\r\n".utf8)
        guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: separator) }),
            let request = ServedRequest(head: Array(bytes[..<(end + 4)]))
        else { return }
        let (number, chosen) = state.withLock { state in
            state.count += 1
            return (state.count, state.chosen.removeValue(forKey: connection))
        }
        let isChunked = request.headers["Transfer-Encoding"] != nil
        let body = isChunked ? ServedRequest.withoutChunks(bytes[(end + 4)...]) : Array(bytes[(end + 4)...])
        var members: [JSONValue.Member] = [
            .init(name: "number", value: .number(JSONNumber(number))),
            .init(name: "method", value: .string(request.method)),
            .init(name: "target", value: .string(request.target)),
            .init(
                name: "headers", value: .array(request.headers.map { .array([.string($0.name), .string($0.value)]) })),
        ]
        if let text = String(validating: body, as: UTF8.self) {
            members.append(.init(name: "body", value: .string(text)))
        } else {
            members.append(.init(name: "body_base64", value: .string(Data(body).base64EncodedString())))
        }
        if body.count < length {
            members.append(.init(name: "missing_bytes", value: .number(JSONNumber(length - body.count))))
        }
        members.append(.init(name: "route", value: chosen?.route.map { .number(JSONNumber($0)) } ?? .null))
        members.append(.init(name: "status", value: .number(JSONNumber(chosen?.status ?? 0))))
        tell(JSONValue.object(members).description, number)
    }
}

extension MockDocument.Route {
    func matches(_ request: ServedRequest) -> Bool {
        guard method == nil || method == request.method, path.matches(request.path) else { return false }
        let given = (request.query ?? "").split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            func decoded(_ part: Substring) -> String { Percent.decoded(String(part).replacing("+", with: " ")) }
            return (decoded(parts[0]), parts.count == 2 ? decoded(parts[1]) : "")
        }
        return query.allSatisfy { wanted in given.contains { $0 == wanted } }
    }
}

extension ServedReply {
    fileprivate init(_ reply: MockDocument.Reply) {
        self.init(status: reply.status)
        headers = reply.headers
        body = .bytes(reply.body)
        delay = reply.delay
        chunkBytes = reply.chunkBytes
        drip = reply.dripBytes.map { ($0, reply.dripInterval) }
        let cut = reply.afterBytes.map { Cut.inBody(after: $0) }
        switch reply.fault {
        case nil: break
        case .reset: (ending, self.cut) = (.reset, cut ?? .atOnce)
        case .close: (ending, self.cut) = (.close, cut ?? .atOnce)
        case .stall: (ending, self.cut) = (.stall, cut ?? .atOnce)
        case .truncate: (ending, self.cut) = (.close, cut ?? .inBody(after: reply.body.count / 2))
        case .garbage:
            (isWhole, ending) = (true, .close)
            body = .bytes(Array("This is no HTTP.\r\n\r\n".utf8))
        }
    }
}
