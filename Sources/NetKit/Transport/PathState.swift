/// The state of the network: whether there is a route, and over which interface.
public struct PathState: Sendable, Hashable {
    /// Whether there is a route, and its kind.
    public enum Status: Int, Sendable, Hashable, CaseIterable, CustomStringConvertible {
        /// The system does not report the state.
        case unknown = -1
        /// No route.
        case notReachable = 0
        /// A route over a cellular connection; for a VPN, if its only carrier is one.
        case viaCellular = 1
        /// A route over any other interface, including one within this machine.
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

    /// The kind of an interface.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// No interface.
        case none
        /// Ethernet and similar ones, such as a container's.
        case wired
        /// Wi-Fi.
        case wireless
        /// A modem: wwan, rmnet, ppp.
        case cellular
        /// A tunnel: tun, tap, WireGuard, IPsec.
        case vpn
        /// The loopback interface.
        case loopback
        /// Any other interface.
        case other
    }

    /// Whether there is a route.
    public var status: Status
    /// The kind of the interface that the system would use.
    public var kind: Kind
    /// The carrier of a VPN, or ``Kind/vpn`` if it is unknown; without a VPN the same as ``kind``.
    public var carrier: Kind
    /// The interface's name, such as "eth0"; empty if there is none.
    public var interface: String
    /// Whether there is a route for IPv4.
    public var hasIPv4: Bool
    /// Whether there is a route for IPv6.
    public var hasIPv6: Bool

    /// Creates a state. With the status only, the other values are set to match it.
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

    /// Whether there is a route; false if unknown.
    public var isReachable: Bool { status == .viaCellular || status == .viaWiFiOrWired }
}
