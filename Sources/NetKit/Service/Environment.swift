/// An environment that a service runs in, with any name.
///
///     static let staging: Environment = "staging"
public struct Environment: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Its name.
    public let rawValue: String

    /// Creates the environment with this name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates the environment with this name.
    public init(stringLiteral value: String) {
        rawValue = value
    }

    /// The name.
    public var description: String { rawValue }

    /// For development.
    public static let develop: Environment = "develop"
    /// For tests before a release.
    public static let releaseCandidate: Environment = "release candidate"
    /// For production.
    public static let release: Environment = "release"
}
