// swift-tools-version: 6.2
import PackageDescription

// One small app for each system that NetKit takes the place of. Each talks to a stub of its own, says what it did, and
// ends with 1 if it was not what it should be:
//
//     swift run --package-path Examples/swift ytk-style
let netKit: [Target.Dependency] = [
    .product(name: "NetKit", package: "NetKit"), .product(name: "NetKitTesting", package: "NetKit"),
]
let settings: [SwiftSetting] = [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

let package = Package(
    name: "Examples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "NetKit", path: "../..")],
    targets: [
        .executableTarget(
            name: "ytk-style", dependencies: netKit, path: "Sources/YTKStyle", swiftSettings: settings),
        .executableTarget(
            name: "af-style", dependencies: netKit, path: "Sources/AFStyle", swiftSettings: settings),
        .executableTarget(
            name: "hzy-style", dependencies: netKit, path: "Sources/HZYStyle", swiftSettings: settings),
        .executableTarget(
            name: "ct-style", dependencies: netKit, path: "Sources/CTStyle", swiftSettings: settings),
    ]
)
