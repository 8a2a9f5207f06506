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

// A release nk starts faster with fewer shared libraries, exported symbols and relocations. Linking/libstdc++.so
// selects the static C++ library, which the static Swift library needs. No library product depends on this target.
let fastStart = [
    "-use-ld=lld", "-L\(Context.packageDirectory)/Sources/NetKitCLI/Linking", "-Xclang-linker", "-static-libgcc",
    "-Xlinker", "--no-export-dynamic", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
]

let package = Package(
    name: "NetKit",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "NetKit", targets: ["NetKit"]),
        .library(name: "NetKitOffline", targets: ["NetKitOffline"]),
        .library(name: "NetKitCompat", targets: ["NetKitCompat"]),
        .library(name: "NetKitTesting", targets: ["NetKitTesting"]),
        .library(name: "NetKitXML", targets: ["NetKitXML"]),
        .library(name: "NetKitImages", targets: ["NetKitImages"]),
        .library(name: "NetKitRedis", targets: ["NetKitRedis"]),
        .library(name: "NetKitAdapters", targets: ["NetKitAdapters"]),
        .library(name: "CNetCore", targets: ["CNetCore"]),
        .executable(name: "nk", targets: ["NetKitCLI"]),
    ],
    // All are off by default. The packages and system libraries of a disabled trait are neither fetched nor required.
    traits: [
        .trait(name: "XML", description: "NetKitXML, which needs libxml2"),
        .trait(name: "Images", description: "NetKitImages and nk image, which need libpng, libjpeg and libwebp"),
        .trait(name: "Redis", description: "NetKitRedis, CNetRedis and nk --cache redis://, which need hiredis"),
        .trait(name: "CJSON", description: "nk validate --tree, which needs cJSON"),
        .trait(name: "SwiftLog", description: "NetKitAdapters writes requests to a Logger of swift-log"),
        .trait(name: "SwiftMetrics", description: "NetKitAdapters counts calls with swift-metrics"),
        .trait(
            name: "HTTPTypes", description: "NetKitAdapters turns fields and requests into swift-http-types' and back"),
        .trait(
            name: "OpenAPITransport", description: "NetKitAdapters has a ClientTransport for Swift OpenAPI Generator",
            enabledTraits: ["HTTPTypes"]),
        .trait(name: "Tracing", description: "NetKitAdapters traces calls with swift-distributed-tracing"),
        .trait(name: "ServiceLifecycle", description: "NetKitAdapters runs an agent in a ServiceGroup"),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-openapi-runtime.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.2.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.6.0"),
    ],
    targets: [
        // SwiftPM prints the names of the Debian packages if pkg-config does not find one.
        .systemLibrary(
            name: "CNetCURL", path: "Sources/SystemLibraries/libcurl", pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CNetOpenSSL", path: "Sources/SystemLibraries/openssl", pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CNetZlib", path: "Sources/SystemLibraries/zlib", pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CNetIDN2", path: "Sources/SystemLibraries/libidn2", pkgConfig: "libidn2",
            providers: [.apt(["libidn2-dev"])]),
        .systemLibrary(
            name: "CNetPSL", path: "Sources/SystemLibraries/libpsl", pkgConfig: "libpsl",
            providers: [.apt(["libpsl-dev"])]),
        .target(
            name: "CNetCore",
            dependencies: ["CNetCURL", "CNetOpenSSL", "CNetZlib", "CNetIDN2", "CNetPSL"],
            path: ".",
            exclude: [
                ".ci", "Benchmarks", "bindings", "cmake", "Examples", "Fuzz", "Sources/CNetCore/json/block_vectors.inc",
                "Sources/CNetCore/json/scanner.inc", "Sources/CNetCore/schema/unicode_ranges.inc",
                "Sources/CNetCJSON", "Sources/CNetImages", "Sources/CNetRedis", "Sources/CNetTesting",
                "Sources/CNetXML",
                "Sources/NetKit", "Sources/NetKitAdapters", "Sources/NetKitCLI", "Sources/NetKitCompat",
                "Sources/NetKitImages", "Sources/NetKitOffline", "Sources/NetKitRedis", "Sources/NetKitTesting",
                "Sources/NetKitXML", "Sources/SystemLibraries", "Tests",
                "debian", "docs", "script", "ARCHITECTURE.md", "CHANGELOG.md", "CMakeLists.txt", "CONTRIBUTING.md",
                "LICENSE",
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
            name: "CNetTesting", dependencies: ["CNetOpenSSL"],
            cSettings: [.define("_GNU_SOURCE")],
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]
        ),
        .target(name: "NetKit", dependencies: ["CNetCore"], swiftSettings: strict),
        .target(name: "NetKitOffline", dependencies: ["NetKit", "CNetCore"], swiftSettings: strict),
        // Without package access, so that it can use only what every program can use.
        .target(
            name: "NetKitCompat", dependencies: ["NetKit", "NetKitOffline"], packageAccess: false,
            swiftSettings: strict),
        .target(
            name: "NetKitTesting", dependencies: ["NetKit", "NetKitOffline", "CNetTesting"], swiftSettings: strict),
        .target(
            name: "NetKitAdapters",
            dependencies: [
                "NetKit", .product(name: "Logging", package: "swift-log", condition: .when(traits: ["SwiftLog"])),
                .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["SwiftMetrics"])),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["HTTPTypes"])),
                .product(
                    name: "OpenAPIRuntime", package: "swift-openapi-runtime",
                    condition: .when(traits: ["OpenAPITransport"])),
                .product(
                    name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"])),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])),
            ], swiftSettings: strict),
        .systemLibrary(
            name: "LibXML2", path: "Sources/SystemLibraries/libxml2", pkgConfig: "libxml-2.0",
            providers: [.apt(["libxml2-dev"])]),
        // Without its trait, each of these targets is an empty module, because a build of the package builds all
        // targets.
        .target(
            name: "CNetXML", dependencies: ["CNetCore", .target(name: "LibXML2", condition: .when(traits: ["XML"]))],
            cSettings: [.define("_GNU_SOURCE"), .define("NETKIT_XML", .when(traits: ["XML"]))]),
        .target(
            name: "NetKitXML", dependencies: ["NetKit", .target(name: "CNetXML", condition: .when(traits: ["XML"]))],
            swiftSettings: strict),
        .systemLibrary(
            name: "Hiredis", path: "Sources/SystemLibraries/hiredis", pkgConfig: "hiredis",
            providers: [.apt(["libhiredis-dev"])]),
        .target(
            name: "CNetRedis",
            dependencies: [
                "CNetCore", "CNetOpenSSL", .target(name: "Hiredis", condition: .when(traits: ["Redis"])),
            ],
            cSettings: [.define("_GNU_SOURCE"), .define("NETKIT_REDIS", .when(traits: ["Redis"]))]),
        .systemLibrary(
            name: "LibCrypto", path: "Sources/SystemLibraries/libcrypto", pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"])]),
        .target(
            name: "NetKitRedis",
            dependencies: [
                "NetKit", "CNetCore", .target(name: "CNetRedis", condition: .when(traits: ["Redis"])),
                .target(name: "LibCrypto", condition: .when(traits: ["Redis"])),
            ], swiftSettings: strict),
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
            name: "CNetImages",
            dependencies: [
                .target(name: "LibPNG", condition: .when(traits: ["Images"])),
                .target(name: "LibJPEG", condition: .when(traits: ["Images"])),
                .target(name: "LibWebP", condition: .when(traits: ["Images"])),
            ],
            cSettings: [.define("_GNU_SOURCE"), .define("NETKIT_IMAGES", .when(traits: ["Images"]))]),
        .target(
            name: "NetKitImages",
            dependencies: ["NetKit", .target(name: "CNetImages", condition: .when(traits: ["Images"]))],
            swiftSettings: strict),
        .systemLibrary(
            name: "LibCJSON", path: "Sources/SystemLibraries/libcjson", pkgConfig: "libcjson",
            providers: [.apt(["libcjson-dev"])]),
        .target(
            name: "CNetCJSON",
            dependencies: ["CNetCore", .target(name: "LibCJSON", condition: .when(traits: ["CJSON"]))],
            cSettings: [.define("_GNU_SOURCE"), .define("NETKIT_CJSON", .when(traits: ["CJSON"]))]),
        .executableTarget(
            name: "NetKitCLI",
            dependencies: [
                "NetKit", "NetKitOffline", .target(name: "NetKitImages", condition: .when(traits: ["Images"])),
                "CNetCore",
                .target(name: "CNetCJSON", condition: .when(traits: ["CJSON"])),
                .target(name: "NetKitRedis", condition: .when(traits: ["Redis"])), "CNetTesting",
            ],
            exclude: ["Linking"],
            swiftSettings: strict,
            linkerSettings: [.unsafeFlags(fastStart, .when(platforms: [.linux], configuration: .release))]),
        .testTarget(
            name: "NetKitTests",
            dependencies: [
                "NetKit", "NetKitOffline", "NetKitCompat", "NetKitTesting", "NetKitCLI", "CNetCore", "CNetTesting",
                .target(name: "NetKitRedis", condition: .when(traits: ["Redis"])),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "NetKitCompatTests",
            dependencies: ["NetKit", "NetKitCompat", "NetKitTesting", "CNetTesting"], swiftSettings: strict),
        .testTarget(
            name: "NetKitOfflineTests",
            dependencies: ["NetKit", "NetKitOffline", "NetKitCompat", "NetKitTesting", "CNetTesting"],
            swiftSettings: strict),
        // What script/test looks at: nothing of XML or images comes with NetKit.
        .executableTarget(
            name: "NetKitAlone", dependencies: ["NetKit"], path: "Tests/NetKitAlone", swiftSettings: strict),
        // The client that script/torture suites drives with public test suites.
        .executableTarget(
            name: "suite-client", dependencies: ["NetKit"], path: "Tests/Suites",
            exclude: ["bettertls.py", "cache-tests.mjs", "cache_client.py", "limbo.py", "run"],
            sources: ["main.swift", "SuiteClient.swift"]),
        // What script/torture redis runs. Without the trait it only prints that.
        .executableTarget(
            name: "RedisTorture", dependencies: ["NetKit", "NetKitRedis", "CNetTesting"], path: "Tests/RedisTorture"),
        .testTarget(
            name: "NetKitImagesTests", dependencies: ["NetKit", "NetKitTesting", "NetKitImages", "NetKitCLI"],
            swiftSettings: strict),
        .testTarget(
            name: "NetKitRedisTests", dependencies: ["NetKit", "NetKitTesting", "NetKitRedis", "CNetTesting"],
            swiftSettings: strict),
        .testTarget(
            name: "NetKitXMLTests", dependencies: ["NetKit", "NetKitTesting", "NetKitXML"], swiftSettings: strict),
        // Most tests need traits: the packages behind them have to be fetched.
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
                .product(
                    name: "InMemoryTracing", package: "swift-distributed-tracing",
                    condition: .when(traits: ["Tracing"])),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])),
            ], swiftSettings: strict),
        .testTarget(
            name: "Conformance", dependencies: ["NetKit", "NetKitTesting", "CNetTesting"], path: "Tests/Conformance",
            swiftSettings: strict),
    ],
    cLanguageStandard: .c11
)

// What is tested is instrumented by a sanitizer, address or thread, where this asks for one. The tests are not: they
// take minutes to compile, and so both sanitizers share them.
if let sanitizer = Context.environment["NETKIT_SANITIZE"] {
    for target in package.targets where target.type != .system {
        if target.type != .test {
            target.cSettings = (target.cSettings ?? []) + [.unsafeFlags(["-fsanitize=\(sanitizer)"])]
            target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-sanitize=\(sanitizer)"])]
        }
        target.linkerSettings = (target.linkerSettings ?? []) + [.unsafeFlags(["-sanitize=\(sanitizer)"])]
    }
}
