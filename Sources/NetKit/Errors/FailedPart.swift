/// The part of a batch, a chain or a graph that failed, and its error.
///
/// A part may consist of parts: then its error names the one that failed in it.
public struct FailedPart: Error, Sendable, CustomStringConvertible {
    /// The index among the parts, from 0.
    public let index: Int
    /// The name of the step; `nil` for an unnamed step and for a member of a batch.
    public let name: String?
    /// The tag of the part; 0 is no tag.
    public let tag: Int
    /// The error of the part.
    public let error: NetError

    /// `2 "cities" (tag 7): …`
    public var description: String { place + ": \(error)" }

    fileprivate var place: String {
        "\(index)" + (name.map { " \"\($0.asMessage)\"" } ?? "") + (tag == 0 ? "" : " (tag \(tag))")
    }
}

extension NetError {
    /// The part that failed, if the error is that of a batch, a chain or a graph of steps. All other properties are
    /// those of the part's error.
    public var failedPart: FailedPart? { underlying as? FailedPart }

    /// Creates the error of a whole.
    ///
    /// - Parameter kind: the word for its parts: "member", "step".
    init(_ kind: String, _ part: FailedPart) {
        let error = part.error
        self.init(
            error.code, "\(kind) \(part.place): \(error.message)", nativeCode: error.nativeCode, offset: error.offset,
            response: error.response, metrics: error.metrics, jsonFaults: error.jsonFaults, underlying: part,
            trust: error.trust)
    }
}
