/// The state of the network path: whether there is a route, and over which interface.
public struct PathState: Sendable, Hashable {
    /// Whether there is a route, and whether it is cellular.
    public enum Status: Int, Sendable, Hashable, CaseIterable, CustomStringConvertible {
        /// The state is unknown, because the system does not report it.
        case unknown = -1
        /// There is no route.
        case notReachable = 0
        /// There is a route over a cellular connection. A VPN counts as cellular if its carrier is cellular.
        case viaCellular = 1
        /// There is a route over any other interface, including one within this machine.
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
        /// Ethernet and similar interfaces, such as that of a container.
        case wired
        /// Wi-Fi.
        case wireless
        /// A cellular modem (wwan, rmnet, ppp).
        case cellular
        /// A tunnel (tun, tap, WireGuard, IPsec).
        case vpn
        /// The loopback interface.
        case loopback
        /// Any other interface.
        case other
    }

    /// Whether there is a route, and whether it is cellular.
    public var status: Status
    /// The kind of the interface that the route uses.
    public var kind: Kind
    /// The kind of the interface that carries a VPN, or ``Kind/vpn`` if it is unknown. Without a VPN it equals
    /// ``kind``.
    public var carrier: Kind
    /// The interface's name, such as "eth0"; empty if there is none.
    public var interface: String
    /// Whether there is a route for IPv4.
    public var hasIPv4: Bool
    /// Whether there is a route for IPv6.
    public var hasIPv6: Bool

    /// Creates a state. Values that are not passed are chosen to match the status.
    public init(
        _ status: Status, kind: Kind? = nil, carrier: Kind? = nil, interface: String = "", hasIPv4: Bool? = nil,
        hasIPv6: Bool = false
    ) {
        let defaultKind: Kind =
            switch status {
            case .unknown, .notReachable: .none
            case .viaCellular: .cellular
            case .viaWiFiOrWired: .wired
            }
        self.status = status
        self.kind = kind ?? defaultKind
        self.carrier = carrier ?? kind ?? defaultKind
        self.interface = interface
        self.hasIPv4 = hasIPv4 ?? (defaultKind != .none && !hasIPv6)
        self.hasIPv6 = hasIPv6
    }

    /// Whether there is a route. False if that is unknown.
    public var isReachable: Bool { status == .viaCellular || status == .viaWiFiOrWired }
}

/// The source of a ``Reachability``'s states: the system, or a test.
public protocol PathSource: Sendable {
    /// Starts reporting. `report` must be called with the current state before this function returns, and then with
    /// each change, by one thread at a time. Called once.
    func start(_ report: @escaping @Sendable (PathState) -> Void)
    /// Stops reporting soon. Called once, after ``start(_:)``. It must not block.
    func stop()
    /// Returns the current path to a host. The host is a name or a numeric address.
    func state(of host: String) async -> PathState
}
