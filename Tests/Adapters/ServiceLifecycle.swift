// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Declares the part of swift-service-lifecycle that the adapter uses.
public protocol Service: Sendable {
    func run() async throws
}

/// Declares the part of swift-service-lifecycle that the adapter uses.
public func gracefulShutdown() async throws {}
