/// The DSCP service class of a request's packets (RFC 2474). Routers may ignore it, and networks between operators
/// mostly do.
///
/// Requests with different classes use different connections.
public struct ServiceClass: RawRepresentable, Sendable, Hashable {
    /// The code point, 1 to 63.
    public let rawValue: UInt8

    /// Creates a class from a code point; `nil` unless it is from 1 to 63. Code point 0, the default of all packets, is
    /// the absence of a class.
    public init?(rawValue: UInt8) {
        guard (1...63).contains(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    private init(_ rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Background traffic: CS1, 8 (RFC 4594, 4.10; LE of RFC 8622 is 1).
    public static let background = ServiceClass(8)
    /// Signalling: CS5, 40 (RFC 4594, 4.2).
    public static let signalling = ServiceClass(40)
    /// Data that a user waits for: AF21, 18 (RFC 4594, 4.7).
    public static let responsiveData = ServiceClass(18)
    /// Multimedia streaming: AF31, 26 (RFC 4594, 4.5).
    public static let video = ServiceClass(26)
    /// Telephony: EF, 46 (RFC 3246).
    public static let voice = ServiceClass(46)

    /// Creates a class by its name in tc and iptables: "ef", "cs1" to "cs7", "af11" to "af43", "le"; or by its number.
    /// Case-insensitive.
    public init?(name: String) {
        let name = name.lowercased()
        if let number = UInt8(name) {
            self.init(rawValue: number)
            return
        }
        let digits = name.dropFirst(2).utf8.map { Int($0) - 48 }
        switch (name.prefix(2), digits.count) {
        case ("ef", 0): self.init(46)
        case ("le", 0): self.init(1)
        case ("cs", 1) where (1...7).contains(digits[0]): self.init(UInt8(digits[0] * 8))
        case ("af", 2) where (1...4).contains(digits[0]) && (1...3).contains(digits[1]):
            self.init(UInt8(digits[0] * 8 + digits[1] * 2))
        default: return nil
        }
    }
}
