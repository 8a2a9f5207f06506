// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Declares the part of swift-service-context that the adapter uses.
public struct ServiceContext: Sendable {
    @TaskLocal public static var current: ServiceContext?

    public static var topLevel: ServiceContext { ServiceContext() }

    public static func withValue<T>(_ value: ServiceContext?, operation: () async throws -> T) async rethrows -> T {
        try await ServiceContext.$current.withValue(value, operation: operation)
    }
}
