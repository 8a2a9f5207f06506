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
        .library(name: "NetKitXML", targets: ["NetKitXML"]),
        .library(name: "NetKitImages", targets: ["NetKitImages"]),
        .library(name: "NetKitAdapters", targets: ["NetKitAdapters"]),
        .library(name: "CNetCore", targets: ["CNetCore"]),
        .executable(name: "nk", targets: ["NetKitCLI"]),
    ],
    // All are off by default, and what only they need is not even fetched then.
    traits: [
        .trait(name: "SwiftLog", description: "NetKitAdapters writes requests to a Logger of swift-log"),
        .trait(name: "SwiftMetrics", description: "NetKitAdapters counts calls with swift-metrics"),
        .trait(
            name: "HTTPTypes", description: "NetKitAdapters turns fields and requests into swift-http-types' and back"),
        .trait(
            name: "OpenAPITransport", description: "NetKitAdapters has a ClientTransport for Swift OpenAPI Generator",
            enabledTraits: ["HTTPTypes"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-openapi-runtime.git", from: "1.8.0"),
    ],
    targets: [
        .target(
            name: "CNetCore",
            path: ".",
            exclude: [
                ".ci", "Benchmarks", "cmake", "Examples", "Fuzz", "Sources/CNetImages", "Sources/CNetTesting",
                "Sources/CNetXML",
                "Sources/NetKit", "Sources/NetKitAdapters", "Sources/NetKitCLI", "Sources/NetKitImages",
                "Sources/NetKitTesting",
                "Sources/NetKitXML", "Sources/SystemLibraries", "Tests",
                "docs", "script", "ARCHITECTURE.md", "CHANGELOG.md", "CMakeLists.txt", "CONTRIBUTING.md", "LICENSE",
                "README.md", "SECURITY.md",
            ],
            sources: ["Sources/CNetCore"],
            publicHeadersPath: "include",
            cSettings: [.headerSearchPath("Sources/CNetCore"), .define("_GNU_SOURCE")],
            linkerSettings: [
                .linkedLibrary("curl"), .linkedLibrary("ssl"), .linkedLibrary("crypto"), .linkedLibrary("z"),
                .linkedLibrary("idn2"), .linkedLibrary("psl"),
                .linkedLibrary("dl", .when(platforms: [.linux])),
                .linkedLibrary("iconv", .when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS])),
            ]
        ),
        .target(
            name: "CNetTesting",
            cSettings: [.define("_GNU_SOURCE")],
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]
        ),
        .target(name: "NetKit", dependencies: ["CNetCore"], swiftSettings: strict),
        .target(name: "NetKitTesting", dependencies: ["NetKit", "CNetTesting"], swiftSettings: strict),
        .target(
            name: "NetKitAdapters",
            dependencies: [
                "NetKit", .product(name: "Logging", package: "swift-log", condition: .when(traits: ["SwiftLog"])),
                .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["SwiftMetrics"])),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["HTTPTypes"])),
                .product(
                    name: "OpenAPIRuntime", package: "swift-openapi-runtime",
                    condition: .when(traits: ["OpenAPITransport"])),
            ], swiftSettings: strict),
        .systemLibrary(
            name: "LibXML2", path: "Sources/SystemLibraries/libxml2", pkgConfig: "libxml-2.0",
            providers: [.apt(["libxml2-dev"])]),
        .target(name: "CNetXML", dependencies: ["CNetCore", "LibXML2"], cSettings: [.define("_GNU_SOURCE")]),
        .target(name: "NetKitXML", dependencies: ["NetKit", "CNetXML"], swiftSettings: strict),
        .systemLibrary(
            name: "LibPNG", path: "Sources/SystemLibraries/libpng", pkgConfig: "libpng",
            providers: [.apt(["libpng-dev"])]),
        .systemLibrary(
            name: "LibJPEG", path: "Sources/SystemLibraries/libjpeg", pkgConfig: "libjpeg",
            providers: [.apt(["libjpeg62-turbo-dev"])]),
        .systemLibrary(
            name: "LibWebP", path: "Sources/SystemLibraries/libwebp", pkgConfig: "libwebp",
            providers: [.apt(["libwebp-dev"])]),
        .target(
            name: "CNetImages", dependencies: ["LibPNG", "LibJPEG", "LibWebP"], cSettings: [.define("_GNU_SOURCE")]),
        .target(name: "NetKitImages", dependencies: ["NetKit", "CNetImages"], swiftSettings: strict),
        .executableTarget(
            name: "NetKitCLI", dependencies: ["NetKit", "NetKitImages", "CNetCore", "CNetTesting"],
            swiftSettings: strict),
        .testTarget(
            name: "NetKitTests", dependencies: ["NetKit", "NetKitTesting", "NetKitCLI", "CNetCore", "CNetTesting"],
            swiftSettings: strict),
        // What script/test looks at: nothing of XML or images comes with NetKit.
        .executableTarget(
            name: "NetKitAlone", dependencies: ["NetKit"], path: "Tests/NetKitAlone", swiftSettings: strict),
        // The client that script/torture suites drives with public test suites.
        .executableTarget(
            name: "suite-client", dependencies: ["NetKit"], path: "Tests/Suites",
            exclude: ["bettertls.py", "cache-tests.mjs", "limbo.py", "run"],
            sources: ["main.swift", "SuiteClient.swift"]),
        .testTarget(
            name: "NetKitImagesTests", dependencies: ["NetKit", "NetKitTesting", "NetKitImages", "NetKitCLI"],
            swiftSettings: strict),
        .testTarget(
            name: "NetKitXMLTests", dependencies: ["NetKit", "NetKitTesting", "NetKitXML"], swiftSettings: strict),
        // Empty without traits: the packages behind them have to be fetched.
        .testTarget(
            name: "NetKitAdaptersTests",
            dependencies: [
                "NetKit", "NetKitTesting", "NetKitAdapters",
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["SwiftLog"])),
                .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["SwiftMetrics"])),
                .product(name: "MetricsTestKit", package: "swift-metrics", condition: .when(traits: ["SwiftMetrics"])),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["HTTPTypes"])),
                .product(
                    name: "OpenAPIRuntime", package: "swift-openapi-runtime",
                    condition: .when(traits: ["OpenAPITransport"])),
            ], swiftSettings: strict),
        .testTarget(
            name: "Conformance", dependencies: ["NetKit", "NetKitTesting", "CNetTesting"], path: "Tests/Conformance",
            swiftSettings: strict),
    ],
    cLanguageStandard: .c11
)

// What is tested is instrumented by a sanitizer, address or thread, where this asks for one. The tests are not: they take
// minutes to compile, and so both sanitizers share them.
if let sanitizer = Context.environment["NETKIT_SANITIZE"] {
    for target in package.targets where target.type != .system {
        if target.type != .test {
            target.cSettings = (target.cSettings ?? []) + [.unsafeFlags(["-fsanitize=\(sanitizer)"])]
            target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-sanitize=\(sanitizer)"])]
        }
        target.linkerSettings = (target.linkerSettings ?? []) + [.unsafeFlags(["-sanitize=\(sanitizer)"])]
    }
}
