#if !Redis
// The package was resolved without the trait Redis, so this module has no code. These declarations stand for the main
// types, so that a program that uses them gets an error that names the trait.

/// Requires the trait Redis of the package.
@available(*, unavailable, message: "NetKitRedis requires the trait Redis: .package(…, traits: [\"Redis\"])")
public enum RedisClient {}

/// Requires the trait Redis of the package.
@available(*, unavailable, message: "NetKitRedis requires the trait Redis: .package(…, traits: [\"Redis\"])")
public enum RedisCacheStore {}

/// Requires the trait Redis of the package.
@available(*, unavailable, message: "NetKitRedis requires the trait Redis: .package(…, traits: [\"Redis\"])")
public enum SharedRateLimit {}

/// Requires the trait Redis of the package.
@available(*, unavailable, message: "NetKitRedis requires the trait Redis: .package(…, traits: [\"Redis\"])")
public enum SharedFlight {}

/// Requires the trait Redis of the package.
@available(*, unavailable, message: "NetKitRedis requires the trait Redis: .package(…, traits: [\"Redis\"])")
public enum SharedCredentials {}
#endif
