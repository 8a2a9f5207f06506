/// How something is reached: whether there is a way, and over which interface.
public struct PathState: Sendable, Hashable {
    /// Whether there is a way, and what it may cost.
    public enum Status: Int, Sendable, Hashable, CaseIterable, CustomStringConvertible {
        /// Nobody knows: the system does not tell.
        case unknown = -1
        /// There is none.
        case notReachable = 0
        /// Over a modem. Over a VPN: when nothing else carries it.
        case viaCellular = 1
        /// Over anything else, also within this machine.
        case viaWiFiOrWired = 2

        /// "unknown", "not reachable", "via cellular" or "via Wi-Fi or wired".
        public var description: String {
            switch self {
            case .unknown: "unknown"
            case .notReachable: "not reachable"
            case .viaCellular: "via cellular"
            case .viaWiFiOrWired: "via Wi-Fi or wired"
            }
        }
    }

    /// What an interface is.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// There is no interface.
        case none
        /// Ethernet and what looks like it, such as a container's.
        case wired
        /// Wi-Fi.
        case wireless
        /// A modem: wwan, rmnet, ppp.
        case cellular
        /// A tunnel: tun, tap, WireGuard, IPsec.
        case vpn
        /// This machine itself.
        case loopback
        /// Anything else.
        case other
    }

    /// Whether there is a way.
    public var status: Status
    /// The kind of the interface that the system would send over.
    public var kind: Kind
    /// What carries a VPN; ``Kind/vpn`` when nothing is seen that might, and otherwise as ``kind``.
    public var carrier: Kind
    /// The interface's name, such as "eth0"; empty when there is none.
    public var interface: String
    /// Whether IPv4 has a way.
    public var hasIPv4: Bool
    /// Whether IPv6 has a way.
    public var hasIPv6: Bool

    /// A state; where only the status is given, the rest is what fits it.
    public init(
        _ status: Status, kind: Kind? = nil, carrier: Kind? = nil, interface: String = "", hasIPv4: Bool? = nil,
        hasIPv6: Bool = false
    ) {
        let fitting: Kind =
            switch status {
            case .unknown, .notReachable: .none
            case .viaCellular: .cellular
            case .viaWiFiOrWired: .wired
            }
        self.status = status
        self.kind = kind ?? fitting
        self.carrier = carrier ?? kind ?? fitting
        self.interface = interface
        self.hasIPv4 = hasIPv4 ?? (fitting != .none && !hasIPv6)
        self.hasIPv6 = hasIPv6
    }

    /// Whether there is a way; false while nobody knows.
    public var isReachable: Bool { status == .viaCellular || status == .viaWiFiOrWired }
}
