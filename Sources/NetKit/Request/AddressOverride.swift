/// Connects to another host or port than the URL names. `Host`, SNI and certificate checks still use the URL's name.
public struct AddressOverride: Sendable, Hashable {
    /// The host in the URL; `nil` matches any.
    public var host: String?
    /// The port in the URL; `nil` matches any.
    public var port: UInt16?
    /// The host or numeric address to connect to; `nil` keeps the host.
    public var toHost: String?
    /// The port to connect to; `nil` keeps the port.
    public var toPort: UInt16?

    /// Creates an override.
    public init(host: String? = nil, port: UInt16? = nil, toHost: String? = nil, toPort: UInt16? = nil) {
        self.host = host
        self.port = port
        self.toHost = toHost
        self.toPort = toPort
    }
}
