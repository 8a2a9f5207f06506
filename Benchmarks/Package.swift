// swift-tools-version: 6.2
import PackageDescription

// Built by script/bench. A separate package, so packages that depend on NetKit do not build its benchmarks.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "NetKit", path: "..", traits: ["Images", "Redis"])],
    targets: [
        .target(name: "CMeasure", path: "transport/measure", cSettings: [.define("_GNU_SOURCE")]),
        .target(name: "Workload", dependencies: ["CMeasure"], path: "transport/workload"),
        .executableTarget(
            name: "bench-netkit",
            dependencies: ["Workload", .product(name: "NetKit", package: "NetKit")],
            path: "transport/netkit"),
        .executableTarget(
            name: "bench-bodies",
            dependencies: [.product(name: "NetKit", package: "NetKit")],
            path: "bodies/netkit"),
        .executableTarget(
            name: "bench-codecs",
            dependencies: [.product(name: "NetKit", package: "NetKit")],
            path: "codecs/netkit"),
        .executableTarget(
            name: "bench-cache",
            dependencies: [
                "CMeasure", .product(name: "NetKit", package: "NetKit"),
                .product(name: "NetKitTesting", package: "NetKit"),
            ],
            path: "cache/netkit"),
        .executableTarget(
            name: "bench-images",
            dependencies: [
                "CMeasure", .product(name: "NetKit", package: "NetKit"),
                .product(name: "NetKitImages", package: "NetKit"),
            ],
            path: "images/netkit"),
        .executableTarget(
            name: "bench-shared",
            dependencies: [
                .product(name: "NetKit", package: "NetKit"), .product(name: "NetKitRedis", package: "NetKit"),
            ],
            path: "redis/netkit"),
        .executableTarget(name: "bench-json", path: "json/foundation"),
        .executableTarget(
            name: "bench-requests",
            dependencies: ["Workload", .product(name: "NetKit", package: "NetKit")],
            path: "requests/netkit"),
        .executableTarget(name: "bench-urlsession", dependencies: ["Workload"], path: "transport/urlsession"),
    ],
    cLanguageStandard: .c11
)
