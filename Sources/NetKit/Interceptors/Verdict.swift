#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a service means by an answer, as far as credentials go.
public enum Verdict: Sendable, Hashable {
    /// The credentials did.
    case accepted
    /// They are over: others may do.
    case expired
    /// They will not do, and new ones of the same kind would not either; the text is what the service said.
    case refused(String)
}

/// A rule that tells what a service means by an answer: by status, fields or body.
///
///     let rule = VerdictRule.status(401)
///     let signs = VerdictRule { head in head.headers["X-Token"] == "expired" ? .expired : .accepted }
public struct VerdictRule: Sendable {
    private let judge: @Sendable (Response<Bytes>) -> Verdict
    /// Body bytes that the rule wants to see; 0 leaves streamed bodies alone.
    public let bodyBytes: Int

    /// A rule over status and fields.
    public init(_ judge: @escaping @Sendable (ResponseHead) -> Verdict) {
        bodyBytes = 0
        self.judge = { response in
            judge(
                ResponseHead(
                    status: response.status, headers: response.headers, httpVersion: response.httpVersion,
                    url: response.url))
        }
    }

    /// A rule that looks at the body as well, whatever the status.
    ///
    /// - Parameters:
    ///   - bodyBytes: a body that is longer is judged as if it were empty. What was saved to a file is, too, and so is a
    ///     stream of events or of parts that replace each other: to wait for its beginning would hold it up.
    ///   - judge: says what the response means.
    public init(bodyBytes: Int, _ judge: @escaping @Sendable (Response<Bytes>) -> Verdict) {
        self.bodyBytes = bodyBytes
        self.judge = judge
    }

    /// These statuses tell that the credentials are over; 401 by default.
    public static func status(_ statuses: Int...) -> VerdictRule {
        VerdictRule { head in statuses.contains(head.status) ? .expired : .accepted }
    }

    /// 401 tells that the credentials are over.
    public static var unauthorized: VerdictRule { .status(401) }

    /// A text in a JSON body tells, whatever the status; a body without it falls to the other rule.
    ///
    /// - Parameters:
    ///   - path: the names that lead to the text, such as `["error", "code"]`.
    ///   - expired: texts of credentials that are over.
    ///   - refused: texts of credentials that will not do.
    ///   - other: what judges everything else.
    public static func field(
        _ path: [String], expired: Set<String>, refused: Set<String> = [], else other: VerdictRule? = nil
    ) -> VerdictRule {
        VerdictRule(bodyBytes: max(64 << 10, other?.bodyBytes ?? 0)) { response in
            let text = JSONText.read(at: path, of: response.bytes)
            if let text, expired.contains(text) {
                return .expired
            }
            if let text, refused.contains(text) {
                return .refused(text)
            }
            return other?.judge(response) ?? .accepted
        }
    }

    /// As CTNetworking's services speak: the body's `id` is `expired_access_token`, or for credentials that will not do
    /// `illegal_access_token` or `no_permission_for_this_api`, also with status 200. Else 401 tells that they are over.
    public static var identifiers: VerdictRule {
        .field(
            ["id"], expired: ["expired_access_token"],
            refused: ["illegal_access_token", "no_permission_for_this_api"], else: .unauthorized)
    }

    /// Judges an answer; a streamed one begins again behind what was read of it.
    func verdict(on answer: Answer) async throws(NetError) -> (Verdict, Answer) {
        guard bodyBytes > 0, !answer.isLive else { return (judge(answer.response), answer) }
        // One byte more tells whether there are more.
        let (beginning, again) = try await answer.peek(upTo: bodyBytes + 1)
        var response = again.response
        response.bytes = beginning.count > bodyBytes ? [] : beginning
        response.value = response.bytes
        return (judge(response), again)
    }
}

extension Answer {
    /// Whether its body comes piece by piece for as long as the server has something to tell.
    fileprivate var isLive: Bool {
        guard case .stream = body else { return false }
        let type = String((headers["Content-Type"] ?? "").prefix { $0 != ";" }).trimmingBlanks.lowercased()
        return type == "text/event-stream" || type == "multipart/x-mixed-replace"
    }
}

/// One text in a JSON document.
enum JSONText {
    /// The text that these names lead to, the last of each as in a ``JSONValue``; nil when there is none, or the document is
    /// none.
    static func read(at path: [String], of bytes: Bytes) -> String? {
        guard let first = bytes.first(where: { ![9, 10, 13, 32].contains($0) }), first == UInt8(ascii: "{"),
            let document = try? JSONValue(bytes)
        else { return nil }
        return path.reduce(Optional(document)) { $0?[$1] }?.string
    }

    /// The text that a JSON string stands for.
    static func string(_ bytes: Bytes) -> String? {
        try? JSONDecoder().decode(String.self, from: bytes.data)
    }
}
