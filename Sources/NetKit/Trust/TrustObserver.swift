/// Observes the evaluation of certificate chains: receives refusals, and can refuse more.
///
/// Its closures run on the agent's event loop thread during the handshake, while every other transfer of the agent
/// waits. They must return immediately and must not wait. Two observers are never equal, so policies with different
/// observers share no connection.
public final class TrustObserver: Sendable {
    /// Receives refusals and results with notes, at most once a minute for each host and port.
    public let report: (@Sendable (TrustEvent) -> Void)?
    /// Called in each handshake; false refuses the chain. A chain that the policy refused stays refused, unless the
    /// policy was created with `allowsOverride`.
    public let decide: (@Sendable (TrustEvent) -> Bool)?
    /// Random in every process: the decisions of the closure cannot be compared.
    let mark = "\(UInt64.random(in: 0 ... .max)) \(UInt64.random(in: 0 ... .max))"

    /// Creates an observer from one or both closures.
    public init(
        report: (@Sendable (TrustEvent) -> Void)? = nil, decide: (@Sendable (TrustEvent) -> Bool)? = nil
    ) {
        self.report = report
        self.decide = decide
    }
}

extension TrustObserver: Hashable {
    /// Returns true if both are the same object.
    public static func == (left: TrustObserver, right: TrustObserver) -> Bool { left === right }

    /// Hashes the identity of the object.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

/// One evaluation in a handshake.
public struct TrustEvent: Sendable, Hashable {
    /// The host of the URL.
    public let host: String
    /// The port.
    public let port: Int
    /// The policy's evaluation result.
    public let verdict: TrustVerdict
    /// The certificates in DER, leaf first: the verified chain, or the sent one; empty for a plain-text request.
    public let chain: [[UInt8]]
    /// The number of unreported events for this host and port since the last report.
    public let unreported: Int
}
