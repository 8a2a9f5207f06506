// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatWarning("StrictMemorySafety", as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "NetKit",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "NetKit", targets: ["NetKit"]),
        .library(name: "NetKitTesting", targets: ["NetKitTesting"]),
        .library(name: "CNetCore", targets: ["CNetCore"]),
        .executable(name: "nk", targets: ["NetKitCLI"]),
    ],
    targets: [
        .target(
            name: "CNetCore",
            path: ".",
            exclude: [
                ".ci", "Benchmarks", "Fuzz", "Sources/CNetTesting", "Sources/NetKit", "Sources/NetKitCLI",
                "Sources/NetKitTesting", "Tests", "docs", "script", "CHANGELOG.md", "CMakeLists.txt", "LICENSE",
                "README.md",
            ],
            sources: ["Sources/CNetCore"],
            publicHeadersPath: "include",
            cSettings: [.headerSearchPath("Sources/CNetCore"), .define("_GNU_SOURCE")],
            linkerSettings: [
                .linkedLibrary("curl"), .linkedLibrary("ssl"), .linkedLibrary("crypto"), .linkedLibrary("z"),
                .linkedLibrary("dl", .when(platforms: [.linux])),
            ]
        ),
        .target(
            name: "CNetTesting",
            cSettings: [.define("_GNU_SOURCE")],
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]
        ),
        .target(name: "NetKit", dependencies: ["CNetCore"], swiftSettings: strict),
        .target(name: "NetKitTesting", dependencies: ["NetKit"], swiftSettings: strict),
        .executableTarget(
            name: "NetKitCLI", dependencies: ["NetKit", "CNetCore", "CNetTesting"], swiftSettings: strict),
        .testTarget(
            name: "NetKitTests", dependencies: ["NetKit", "NetKitTesting", "NetKitCLI", "CNetCore", "CNetTesting"],
            swiftSettings: strict),
        .testTarget(
            name: "Conformance", dependencies: ["NetKit", "NetKitTesting", "CNetTesting"], path: "Tests/Conformance",
            swiftSettings: strict),
    ],
    cLanguageStandard: .c11
)
