/// Which part of a batch, a chain or a graph failed, and with what.
///
/// A part may be made of parts itself: then its own error names the one that failed in it.
public struct FailedPart: Error, Sendable, CustomStringConvertible {
    /// Its place among the parts, counted from 0.
    public let index: Int
    /// What the step is called; nil where nobody named it, and of a batch's member.
    public let name: String?
    /// The errand's own tag; 0 says nothing.
    public let tag: Int
    /// What it failed with.
    public let error: NetError

    /// `2 "cities" (tag 7): …`
    public var description: String { place + ": \(error)" }

    fileprivate var place: String {
        "\(index)" + (name.map { " \"\($0.asMessage)\"" } ?? "") + (tag == 0 ? "" : " (tag \(tag))")
    }
}

extension NetError {
    /// The part that failed, where the error is that of a batch, a chain or a graph of steps; everything else that the
    /// error says is what that part's error says.
    public var failedPart: FailedPart? { underlying as? FailedPart }

    /// The error of something larger.
    ///
    /// - Parameter kind: what its parts are called: "member", "step".
    init(_ kind: String, _ part: FailedPart) {
        let error = part.error
        self.init(
            error.code, "\(kind) \(part.place): \(error.message)", nativeCode: error.nativeCode, offset: error.offset,
            response: error.response, metrics: error.metrics, jsonFaults: error.jsonFaults, underlying: part,
            trust: error.trust)
    }
}
