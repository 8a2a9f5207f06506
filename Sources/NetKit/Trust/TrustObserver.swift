/// Who looks on while chains are judged: is told of refusals, and may refuse more.
///
/// Its closures are called on the agent's loop thread, within the handshake, while every other transfer of the agent
/// waits: they must return at once, and not wait for anything. Two observers are never the same one, so that policies
/// with different ones share no connection.
public final class TrustObserver: Sendable {
    /// Told of refusals and of whatever a verdict notes, at most once a minute for each host and port.
    public let report: (@Sendable (TrustEvent) -> Void)?
    /// Asked in each handshake. What the policy refused stays refused, unless it was made with `allowsOverride`.
    public let decide: (@Sendable (TrustEvent) -> Bool)?
    /// Its own in every process: what it decides, nobody else knows.
    let mark = "\(UInt64.random(in: 0 ... .max)) \(UInt64.random(in: 0 ... .max))"

    /// An observer that is told, or asked, or both.
    public init(
        report: (@Sendable (TrustEvent) -> Void)? = nil, decide: (@Sendable (TrustEvent) -> Bool)? = nil
    ) {
        self.report = report
        self.decide = decide
    }
}

extension TrustObserver: Hashable {
    /// Whether both are the same one.
    public static func == (left: TrustObserver, right: TrustObserver) -> Bool { left === right }

    /// By identity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

/// One judgement of a handshake.
public struct TrustEvent: Sendable, Hashable {
    /// Host of the URL.
    public let host: String
    /// Port.
    public let port: Int
    /// What the policy says.
    public let verdict: TrustVerdict
    /// Certificates in DER, the leaf first: the verified chain, or what was sent; none for a request in the clear.
    public let chain: [[UInt8]]
    /// Events about this place that were not reported since the last one that was.
    public let unreported: Int
}
