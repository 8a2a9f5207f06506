// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Declares the part of swift-log that the adapter uses.
public struct Logger: Sendable {
    public enum Level: Sendable { case trace, debug, info }

    public struct Message: ExpressibleByStringInterpolation, Sendable {
        public init(stringLiteral value: String) {}
    }

    public typealias Metadata = [String: String]

    public func log(
        level: Level, _ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil,
        file: String = #fileID, function: String = #function, line: UInt = #line
    ) {}
}
