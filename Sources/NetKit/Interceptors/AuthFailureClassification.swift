#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a response shows about the credentials of its request.
public enum AuthFailureClassification: Sendable, Hashable {
    /// The credentials were accepted.
    case accepted
    /// The credentials have expired. New ones may be accepted.
    case expired
    /// The credentials are refused, and refreshed ones would be refused too. The associated value is the service's
    /// text.
    case refused(String)
}

/// A rule that classifies a response by status, fields or body.
///
///     let rule = AuthFailureClassifier.status(401)
///     let signs = AuthFailureClassifier { head in head.headers["X-Token"] == "expired" ? .expired : .accepted }
public struct AuthFailureClassifier: Sendable {
    private let classify: @Sendable (Response<Bytes>) -> AuthFailureClassification
    /// The largest body that the rule reads, in bytes. If 0, the rule does not read bodies.
    let bodyBytes: Int

    /// Creates a rule for status and fields.
    public init(_ classify: @escaping @Sendable (ResponseHead) -> AuthFailureClassification) {
        bodyBytes = 0
        self.classify = { response in
            classify(
                ResponseHead(
                    status: response.status, headers: response.headers, httpVersion: response.httpVersion,
                    url: response.url))
        }
    }

    /// Creates a rule that also reads the body, for responses with any status.
    ///
    /// The closure receives an empty body for a longer body and for a saved file. The same applies to a live stream
    /// (text/event-stream or multipart/x-mixed-replace), which would be delayed if its first bytes were read here.
    /// - Parameters:
    ///   - bodyBytes: the largest body that the rule reads, in bytes.
    ///   - classify: classifies the response.
    public init(bodyBytes: Int, _ classify: @escaping @Sendable (Response<Bytes>) -> AuthFailureClassification) {
        self.bodyBytes = bodyBytes
        self.classify = classify
    }

    /// Returns a rule for which these statuses mean expired credentials.
    public static func status(_ statuses: Int...) -> AuthFailureClassifier {
        AuthFailureClassifier { head in statuses.contains(head.status) ? .expired : .accepted }
    }

    /// Returns a rule that classifies by a text in a JSON body, for responses with any status.
    ///
    /// - Parameters:
    ///   - path: the member names that lead to the text, such as `["error", "code"]`.
    ///   - expired: the texts that mean expired credentials.
    ///   - refused: the texts that mean refused credentials.
    ///   - other: the rule for responses with another text or without one. If `nil`, their credentials were accepted.
    public static func field(
        _ path: [String], expired: Set<String>, refused: Set<String> = [], else other: AuthFailureClassifier? = nil
    ) -> AuthFailureClassifier {
        AuthFailureClassifier(bodyBytes: max(64 << 10, other?.bodyBytes ?? 0)) { response in
            let text = JSONText.read(at: path, of: response.bytes)
            if let text, expired.contains(text) {
                return .expired
            }
            if let text, refused.contains(text) {
                return .refused(text)
            }
            return other?.classify(response) ?? .accepted
        }
    }

    /// Classifies a response. Also returns the response to continue with: its stream still contains all bytes,
    /// including those that were read here.
    func classified(_ response: ChainResponse) async throws(NetError) -> (AuthFailureClassification, ChainResponse) {
        guard bodyBytes > 0, !response.isLive else { return (classify(response.response), response) }
        // Reads one byte more, which shows whether the body is longer than the limit.
        let (beginning, repeated) = try await response.peek(upTo: bodyBytes + 1)
        var original = repeated.response
        original.bytes = beginning.count > bodyBytes ? [] : beginning
        original.value = original.bytes
        return (classify(original), repeated)
    }
}

extension ChainResponse {
    /// Whether the body is a live stream of events or of parts that replace each other.
    fileprivate var isLive: Bool {
        guard case .stream = body else { return false }
        let type = String((headers["Content-Type"] ?? "").prefix { $0 != ";" }).trimmingBlanks.lowercased()
        return type == "text/event-stream" || type == "multipart/x-mixed-replace"
    }
}

/// Reads one text from a JSON document.
enum JSONText {
    /// Returns the text that these member names lead to, or `nil` if there is none or the document is invalid. If an
    /// object has several members with the same name, the last one counts, as in a ``JSONValue``.
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
