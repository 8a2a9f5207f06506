import FoundationEssentials
import NetKit

/// The document of `nk mock`: routes and their replies.
struct MockDocument: Sendable {
    struct Route: Sendable {
        /// The method. If `nil`, all methods match.
        var method: String?
        var path: PathPattern
        /// Parameters that the query must contain.
        var query: [(name: String, value: String)] = []
        /// The replies. There is at least one.
        var replies: [Reply]
        /// Whether the replies start again after the last one. Otherwise the last one is repeated.
        var cycles = false
    }

    struct Reply: Sendable {
        enum Fault: String, Sendable, CaseIterable {
            /// The connection is reset (RST).
            case reset
            /// The connection is closed in an orderly way (FIN).
            case close
            /// The connection is closed in an orderly way (FIN) in the middle of the body.
            case truncate
            /// The server sends nothing more, and the connection remains open.
            case stall
            /// The server sends bytes that are not HTTP.
            case garbage
        }

        var status = 200
        var headers = Headers()
        var body: [UInt8] = []
        var delay = Duration.zero
        var fault: Fault?
        var afterBytes: Int?
        var dripBytes: Int?
        var dripInterval = Duration.zero
        var chunkBytes: Int?
        var socketSteps: [SocketStep]?
        /// The schema of the request's body.
        var requestSchema: JSONSchema?
    }

    var routes: [Route] = []
    /// The reply to requests that no route matches.
    var otherwise = Reply(status: 404)

    private static var reply: JSONShape {
        JSONShape.object([
            "status?": .integer(min: 200, max: 999), "headers?": .object, "body?": .string, "json?": .any,
            "base64?": .string, "file?": .string(minLength: 1), "delay_ms?": .integer(min: 0, max: 86_400_000),
            "fault?": .oneOf(["reset", "close", "truncate", "stall", "garbage"]),
            "after_bytes?": .integer(min: 0, max: 1_099_511_627_776),
            "drip_bytes?": .integer(min: 1, max: 1_073_741_824),
            "websocket?": .array(of: .any), "drip_ms?": .integer(min: 0, max: 86_400_000),
            "chunk_bytes?": .integer(min: 1, max: 1_073_741_824), "request_schema?": .any,
        ]).closed
    }

    private static var shape: JSONShape {
        let route = JSONShape.object([
            "method?": .string(minLength: 1), "path": .string(minLength: 1), "query?": .object, "reply?": reply,
            "replies?": .array(of: reply, minItems: 1), "cycle?": .boolean,
        ]).closed
        return JSONShape.object(["routes": [route], "otherwise?": reply]).closed
    }

    /// Parses a document. The error for an invalid one contains the position and what was expected there.
    ///
    /// - Parameter file: reads a file that a "file" member names. Its failure is thrown.
    init(_ bytes: Bytes, file: (String) throws(Failure) -> [UInt8]) throws(MockFault) {
        let tree: JSONValue
        do throws(NetError) {
            let check = try JSONCheck(JSONExpectation(Self.shape))
            try check.feed(bytes)
            try check.finish()
            tree = try JSONValue(bytes)
        } catch {
            throw .document(RunFault(error))
        }
        for (index, route) in (tree["routes"]?.array ?? []).enumerated() {
            routes.append(try Self.route(route, at: "/routes/\(index)", file))
        }
        if let value = tree["otherwise"] {
            otherwise = try Self.reply(value, at: "/otherwise", status: 404, file)
        }
    }

    private static func route(
        _ value: JSONValue, at location: String, _ file: (String) throws(Failure) -> [UInt8]
    ) throws(MockFault) -> Route {
        let path = value["path"]?.string ?? ""
        guard path.utf8.first == UInt8(ascii: "/"), !path.contains("?"), !path.contains("#") else {
            let wanted =
                path.hasPrefix("/") ? "a path without a query; use \"query\"" : "a path that begins with '/'"
            throw .document(RunFault(location + "/path", wanted: wanted, found: "\"\(path)\""))
        }
        let method = value["method"]?.string
        if let method, !method.isToken {
            throw .document(RunFault(location + "/method", wanted: "a method", found: "\"\(method)\""))
        }
        var replies: [Reply] = []
        switch (value["reply"], value["replies"]?.array) {
        case (let one?, nil): replies = [try reply(one, at: location + "/reply", file)]
        case (nil, let several?):
            for (index, one) in several.enumerated() {
                replies.append(try reply(one, at: "\(location)/replies/\(index)", file))
            }
        case (let one, _):
            throw .document(
                RunFault(location, wanted: "\"reply\" or \"replies\"", found: one == nil ? "neither" : "both"))
        }
        var query: [(name: String, value: String)] = []
        for member in value["query"]?.members ?? [] {
            guard let text = member.value.string else {
                throw .document(
                    RunFault(
                        "\(location)/query/\(member.name.pointerWord)", wanted: "string",
                        found: member.value.description))
            }
            query.append((member.name, text))
        }
        return Route(
            method: method, path: PathPattern(path), query: query, replies: replies,
            cycles: value["cycle"]?.bool ?? false)
    }

    private static func reply(
        _ value: JSONValue, at location: String, status: Int = 200, _ file: (String) throws(Failure) -> [UInt8]
    ) throws(MockFault) -> Reply {
        var reply = Reply(status: value["status"]?.int ?? status)
        for member in value["headers"]?.members ?? [] {
            let field = "\(location)/headers/\(member.name.pointerWord)"
            guard member.name.isToken else {
                throw .document(
                    RunFault(field, wanted: "a name of letters, digits and hyphens", found: "another character"))
            }
            for text in try texts(member.value, at: field) {
                guard text.isLine else {
                    throw .document(RunFault(field, wanted: "one line", found: "a control character"))
                }
                reply.headers.append(name: member.name, value: text)
            }
        }
        try takeBody(of: value, at: location, &reply, file)
        if let schema = value["request_schema"] {
            reply.requestSchema = try Self.schema(schema, at: location + "/request_schema", file)
        }
        func milliseconds(_ name: String) -> Duration { .milliseconds(value[name]?.int ?? 0) }
        (reply.delay, reply.dripInterval) = (milliseconds("delay_ms"), milliseconds("drip_ms"))
        reply.fault = value["fault"]?.string.flatMap(Reply.Fault.init)
        reply.afterBytes = value["after_bytes"]?.int
        reply.dripBytes = value["drip_bytes"]?.int
        reply.chunkBytes = value["chunk_bytes"]?.int
        if reply.afterBytes != nil, reply.fault == nil || reply.fault == .garbage {
            throw .document(
                RunFault(location, wanted: "after_bytes with a fault", found: "after_bytes alone"))
        }
        if let steps = value["websocket"] {
            let names = (value.members ?? []).map(\.name)
            if let other = names.first(where: { !["websocket", "headers", "delay_ms"].contains($0) }) {
                throw .document(
                    RunFault(location, wanted: "websocket with headers or delay_ms only", found: "\"\(other)\""))
            }
            (reply.socketSteps, reply.status) = (try MockSocket.steps(steps, at: location + "/websocket"), 101)
        }
        if value["drip_ms"] != nil, reply.dripBytes == nil {
            throw .document(RunFault(location, wanted: "drip_bytes with drip_ms", found: "drip_ms alone"))
        }
        return reply
    }

    private static func takeBody(
        of value: JSONValue, at location: String, _ reply: inout Reply, _ file: (String) throws(Failure) -> [UInt8]
    ) throws(MockFault) {
        let given = ["body", "json", "base64", "file"].filter { value[$0] != nil }
        guard given.count <= 1 else {
            throw .document(RunFault(location, wanted: "one body", found: given.joined(separator: " and ")))
        }
        var type: String?
        if let text = value["body"]?.string {
            (reply.body, type) = (Array(text.utf8), "text/plain; charset=utf-8")
        } else if let tree = value["json"] {
            (reply.body, type) = (Array(tree.description.utf8), "application/json")
        } else if let text = value["base64"]?.string {
            guard let data = Data(base64Encoded: text) else {
                throw .document(RunFault(location + "/base64", wanted: "base64", found: "\"\(text.prefix(20))\""))
            }
            reply.body = Array(data)
        } else if let path = value["file"]?.string {
            do throws(Failure) {
                (reply.body, type) = (try file(path), FileType.of(path))
            } catch {
                throw .file(error)
            }
        }
        if let type, reply.headers["Content-Type"] == nil {
            reply.headers["Content-Type"] = type
        }
    }

    /// Returns the schema that a value is, or that the file has which it names.
    private static func schema(
        _ value: JSONValue, at location: String, _ file: (String) throws(Failure) -> [UInt8]
    ) throws(MockFault) -> JSONSchema {
        var text = value.description
        if let path = value.string {
            do throws(Failure) {
                text = String(decoding: try file(path), as: UTF8.self)
            } catch {
                throw .file(error)
            }
        }
        do throws(NetError) {
            return try ValidateCommand.schema(text)
        } catch {
            throw .document(RunFault(location, "invalid schema: \(error.message)"))
        }
    }

    private static func texts(_ value: JSONValue, at location: String) throws(MockFault) -> [String] {
        let texts = value.string.map { [$0] } ?? value.array?.compactMap(\.string) ?? []
        guard !texts.isEmpty, value.string != nil || texts.count == value.array?.count else {
            throw .document(RunFault(location, wanted: "a string, or an array of them", found: value.description))
        }
        return texts
    }
}

/// The reason why a document cannot be served.
enum MockFault: Error {
    case document(RunFault)
    case file(Failure)
}
