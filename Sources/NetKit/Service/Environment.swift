/// One of the places where a service runs, by any name.
///
///     static let staging: Environment = "staging"
public struct Environment: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Its name.
    public let rawValue: String

    /// The environment of this name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The environment of this name.
    public init(stringLiteral value: String) {
        rawValue = value
    }

    /// The name.
    public var description: String { rawValue }

    /// Where it is written.
    public static let develop: Environment = "develop"
    /// Where it is tried before a release.
    public static let releaseCandidate: Environment = "release candidate"
    /// Where it is used.
    public static let release: Environment = "release"
}
