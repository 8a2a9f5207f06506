import NetKit

/// The refusal of a request whose body does not match a schema, as a problem document (RFC 9457).
struct SchemaRefusal {
    /// 422 for JSON that does not match, 400 for a body that is not JSON, 413 for one that exceeds a limit.
    let status: Int
    /// The sentence that describes the first mismatch.
    let detail: String
    /// The position of the mismatch, or `nil` if a limit is exceeded.
    private let fault: JSONFault?

    /// Returns `nil` if the body matches.
    ///
    /// - Parameters:
    ///   - body: the body, or its beginning if the server has not kept all of it.
    ///   - length: the number of bytes that were received.
    init?(of body: [UInt8], length: Int, by schema: JSONSchema) {
        guard body.count == length else {
            (status, fault) = (413, nil)
            detail = "the body has \(length) bytes; a body that is checked has at most 64 MiB"
            return
        }
        do throws(NetError) {
            guard let fault = try schema.check(Bytes(body)) else { return nil }
            (status, detail, self.fault) = (422, fault.description, fault)
        } catch {
            fault = error.jsonFaults.first
            status = error.code == .badJSON ? 400 : 413
            detail = fault.map { "the body is not JSON: \($0)" } ?? error.message
        }
    }

    /// The reply to the request.
    var reply: ServedReply {
        let titles = [400: "Bad Request", 413: "Content Too Large"]
        var members: [JSONValue.Member] = [
            .init(name: "title", value: .string(titles[status] ?? "Unprocessable Content")),
            .init(name: "status", value: .number(JSONNumber(status))),
            .init(name: "detail", value: .string(detail)),
        ]
        if let fault {
            members += [
                .init(name: "instanceLocation", value: fault.pointer.map { .string($0) } ?? .null),
                .init(name: "keywordLocation", value: fault.keyword.map { .string($0) } ?? .null),
                .init(name: "line", value: .number(JSONNumber(fault.line))),
                .init(name: "column", value: .number(JSONNumber(fault.column))),
            ]
        }
        var reply = ServedReply(status: status)
        reply.headers["Content-Type"] = "application/problem+json"
        reply.body = .bytes(Array(JSONValue.object(members).description.utf8))
        return reply
    }
}
