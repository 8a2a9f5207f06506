// swift-tools-version: 6.2
import PackageDescription

// One small app for each library that NetKit can replace, and one whose processes share their state in Redis. Each uses
// its own stub or server, prints what it did, and exits with 1 if a result was wrong:
//
//     swift run --package-path Examples/swift ytk-style
let netKit: [Target.Dependency] = [
    .product(name: "NetKit", package: "NetKit"), .product(name: "NetKitCompat", package: "NetKit"),
    .product(name: "NetKitTesting", package: "NetKit"),
]
let redis: [Target.Dependency] = [.product(name: "NetKitRedis", package: "NetKit")]
let settings: [SwiftSetting] = [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

let package = Package(
    name: "Examples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "NetKit", path: "../..", traits: ["Redis"])],
    targets: [
        .executableTarget(
            name: "ytk-style", dependencies: netKit, path: "Sources/YTKStyle", swiftSettings: settings),
        .executableTarget(
            name: "af-style", dependencies: netKit, path: "Sources/AFStyle", swiftSettings: settings),
        .executableTarget(
            name: "hzy-style", dependencies: netKit, path: "Sources/HZYStyle", swiftSettings: settings),
        .executableTarget(
            name: "ct-style", dependencies: netKit, path: "Sources/CTStyle", swiftSettings: settings),
        .executableTarget(
            name: "eight-workers", dependencies: netKit + redis, path: "Sources/EightWorkers", swiftSettings: settings),
    ]
)
