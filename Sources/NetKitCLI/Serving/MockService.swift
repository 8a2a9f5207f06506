import FoundationEssentials
import NetKit

/// Replies to requests as a document defines, and reports each request.
final class MockService: RequestHandler {
    private struct State: Sendable {
        /// The number of replies that were chosen for each route.
        var replyCounts: [Int]
        /// The reply to the current request of each connection.
        var currentReplies: [Int: CurrentReply] = [:]
        var count = 0
        var replies = 0
    }

    private struct CurrentReply: Sendable {
        let route: Int?
        var status: Int
        let schema: JSONSchema?
        /// The reason why the request was refused.
        var mismatch: String?
    }

    private let document: MockDocument
    private let notify: @Sendable (String, Int) -> Void
    private let hasReplied: @Sendable (Int) -> Void
    private let state: Lock<State>

    /// - Parameters:
    ///   - notify: called for each request with a line of JSON and the number of the request, counted from 1.
    ///   - replied: called after each reply with the number of replies that were sent.
    init(
        _ document: MockDocument, notify: @escaping @Sendable (String, Int) -> Void,
        replied: @escaping @Sendable (Int) -> Void
    ) {
        self.document = document
        self.notify = notify
        hasReplied = replied
        state = Lock(State(replyCounts: document.routes.map { _ in 0 }))
    }

    func reply(to request: ServedRequest?, connection: Int) -> ServedReply {
        guard let request else { return .page(431, "the request header is too large") }
        let route = document.routes.firstIndex { $0.matches(request) }
        let reply = state.withLock { state in
            let reply = route.map { route -> MockDocument.Reply in
                let replies = document.routes[route].replies
                let number = state.replyCounts[route]
                state.replyCounts[route] += 1
                let index = document.routes[route].cycles ? number % replies.count : min(number, replies.count - 1)
                return replies[index]
            }
            let chosen = reply ?? document.otherwise
            let status = chosen.socketSteps == nil || request.opensSocket ? chosen.status : 426
            state.currentReplies[connection] = CurrentReply(
                route: route, status: status, schema: chosen.requestSchema)
            return chosen
        }
        return ServedReply(reply)
    }

    func reply(toBody body: [UInt8], of length: Int, connection: Int) -> ServedReply? {
        guard let schema = state.withLock({ $0.currentReplies[connection]?.schema }),
            let refusal = SchemaRefusal(of: body, length: length, by: schema)
        else { return nil }
        state.withLock { state in
            state.currentReplies[connection]?.status = refusal.status
            state.currentReplies[connection]?.mismatch = refusal.detail
        }
        return refusal.reply
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
        let (number, currentReply) = state.withLock { state in
            state.count += 1
            return (state.count, state.currentReplies.removeValue(forKey: connection))
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
        members.append(.init(name: "route", value: currentReply?.route.map { .number(JSONNumber($0)) } ?? .null))
        members.append(.init(name: "status", value: .number(JSONNumber(currentReply?.status ?? 0))))
        if let mismatch = currentReply?.mismatch {
            members.append(.init(name: "mismatch", value: .string(mismatch)))
        }
        notify(JSONValue.object(members).description, number)
    }
}

extension MockDocument.Route {
    func matches(_ request: ServedRequest) -> Bool {
        guard method == nil || method == request.method, path.matches(request.path) else { return false }
        let parameters = (request.query ?? "").split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            func decoded(_ part: Substring) -> String { Percent.decoded(String(part).replacing("+", with: " ")) }
            return (decoded(parts[0]), parts.count == 2 ? decoded(parts[1]) : "")
        }
        return query.allSatisfy { expected in parameters.contains { $0 == expected } }
    }
}

extension ServedReply {
    fileprivate init(_ reply: MockDocument.Reply) {
        self.init(status: reply.status)
        headers = reply.headers
        body = .bytes(reply.body)
        delay = reply.delay
        socketSteps = reply.socketSteps
        chunkBytes = reply.chunkBytes
        awaitsBody = reply.requestSchema != nil
        drip = reply.dripBytes.map { ($0, reply.dripInterval) }
        let cut = reply.afterBytes.map { Cut.inBody(after: $0) }
        switch reply.fault {
        case nil: break
        case .reset: (ending, self.cut) = (.reset, cut ?? .beforeHead)
        case .close: (ending, self.cut) = (.close, cut ?? .beforeHead)
        case .stall: (ending, self.cut) = (.stall, cut ?? .beforeHead)
        case .truncate: (ending, self.cut) = (.close, cut ?? .inBody(after: reply.body.count / 2))
        case .garbage:
            (isWhole, ending) = (true, .close)
            body = .bytes(Array("This is not HTTP.\r\n\r\n".utf8))
        }
    }
}
