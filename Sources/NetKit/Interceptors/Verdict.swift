#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The meaning of a response for the credentials of its request.
public enum Verdict: Sendable, Hashable {
    /// The credentials were accepted.
    case accepted
    /// The credentials have expired: new ones may be accepted.
    case expired
    /// The credentials are refused, and new ones of the same kind would be too; with the service's text.
    case refused(String)
}

/// A rule that classifies a response by status, fields or body.
///
///     let rule = VerdictRule.status(401)
///     let signs = VerdictRule { head in head.headers["X-Token"] == "expired" ? .expired : .accepted }
public struct VerdictRule: Sendable {
    private let judge: @Sendable (Response<Bytes>) -> Verdict
    /// The number of body bytes that the rule reads; 0 leaves streamed bodies unread.
    public let bodyBytes: Int

    /// Creates a rule for status and fields.
    public init(_ judge: @escaping @Sendable (ResponseHead) -> Verdict) {
        bodyBytes = 0
        self.judge = { response in
            judge(
                ResponseHead(
                    status: response.status, headers: response.headers, httpVersion: response.httpVersion,
                    url: response.url))
        }
    }

    /// Creates a rule that reads the body as well, with any status.
    ///
    /// - Parameters:
    ///   - bodyBytes: a longer body is passed as empty. So are a saved file, and a stream of events or of parts that
    ///     replace each other: waiting for its beginning would delay it.
    ///   - judge: classifies the response.
    public init(bodyBytes: Int, _ judge: @escaping @Sendable (Response<Bytes>) -> Verdict) {
        self.bodyBytes = bodyBytes
        self.judge = judge
    }

    /// Returns a rule for which these statuses mean expired credentials.
    public static func status(_ statuses: Int...) -> VerdictRule {
        VerdictRule { head in statuses.contains(head.status) ? .expired : .accepted }
    }

    /// A rule for which 401 means expired credentials.
    public static var unauthorized: VerdictRule { .status(401) }

    /// Returns a rule for a text in a JSON body, with any status. Another rule classifies bodies without it.
    ///
    /// - Parameters:
    ///   - path: the names that lead to the text, such as `["error", "code"]`.
    ///   - expired: texts that mean expired credentials.
    ///   - refused: texts that mean refused credentials.
    ///   - other: the rule for all other responses.
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

    /// The rule of CTNetworking's services, also with status 200. The body's `id` is `expired_access_token`, or for
    /// refused credentials `illegal_access_token` or `no_permission_for_this_api`. Otherwise 401 means expired
    /// credentials.
    public static var identifiers: VerdictRule {
        .field(
            ["id"], expired: ["expired_access_token"],
            refused: ["illegal_access_token", "no_permission_for_this_api"], else: .unauthorized)
    }

    /// Classifies a response and returns it; a stream starts again with the bytes that were read.
    func verdict(on answer: Answer) async throws(NetError) -> (Verdict, Answer) {
        guard bodyBytes > 0, !answer.isLive else { return (judge(answer.response), answer) }
        // One byte more shows whether the body is longer.
        let (beginning, again) = try await answer.peek(upTo: bodyBytes + 1)
        var response = again.response
        response.bytes = beginning.count > bodyBytes ? [] : beginning
        response.value = response.bytes
        return (judge(response), again)
    }
}

extension Answer {
    /// Whether its body is an endless stream of events or parts.
    fileprivate var isLive: Bool {
        guard case .stream = body else { return false }
        let type = String((headers["Content-Type"] ?? "").prefix { $0 != ";" }).trimmingBlanks.lowercased()
        return type == "text/event-stream" || type == "multipart/x-mixed-replace"
    }
}

/// One text in a JSON document.
enum JSONText {
    /// Returns the text at these names, or `nil` if there is none or the document is invalid. Of repeated names the
    /// last one counts, as in a ``JSONValue``.
    static func read(at path: [String], of bytes: Bytes) -> String? {
        guard let first = bytes.first(where: { ![9, 10, 13, 32].contains($0) }), first == UInt8(ascii: "{"),
            let document = try? JSONValue(bytes)
        else { return nil }
        return path.reduce(Optional(document)) { $0?[$1] }?.string
    }

    /// Returns the text of a JSON string.
    static func string(_ bytes: Bytes) -> String? {
        try? JSONDecoder().decode(String.self, from: bytes.data)
    }
}
