// swift-tools-version: 6.2
import PackageDescription

// The targets are the layers of ARCHITECTURE.md: each may import only what stands above it in this file.
// Warnings become errors on the command line (see the Makefile), not here, so that a packager's newer compiler,
// which may know more warnings, still builds this.

let strict: [SwiftSetting] = [
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let fuzzTests = Target.testTarget(
    name: "FuzzTests",
    dependencies: [
        "MPDProtocol", "QueueEngine", "SubsonicKit", "Library", "Playback", "ShelvMPD", "CFuzzer", "CLinux", "Support",
    ],
    swiftSettings: strict
)

let package = Package(
    name: "ShelvMPD",
    products: [
        .executable(name: "shelvmpd", targets: ["ShelvMPD"])
    ],
    targets: [
        // C libraries of the system. libmpv has no pkgConfig: Debian's mpv.pc makes SwiftPM warn at every build.
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CMPV"),
        .systemLibrary(name: "CResample"),
        .systemLibrary(name: "CEncode"),
        .systemLibrary(name: "CAvahi"),
        .systemLibrary(name: "CAudioTap", path: "Sources/AudioTap"),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl"),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto"),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3"),
        .systemLibrary(name: "CText", pkgConfig: "icu-i18n"),
        // simdjson checks itself unless NDEBUG is set, in debug builds with every byte.
        .target(
            name: "CJSON",
            cxxSettings: [.define("NDEBUG")],
            linkerSettings: [.linkedLibrary("simdjson")]
        ),

        // Pure: no imports, no input or output.
        .target(name: "MPDProtocol", swiftSettings: strict),
        .target(name: "QueueEngine", swiftSettings: strict),

        .target(name: "Logging", dependencies: ["CLinux"], swiftSettings: strict),
        .target(
            name: "SubsonicKit",
            dependencies: ["CCurl", "CCrypto", "CJSON", "CLinux", "Logging"],
            swiftSettings: strict
        ),
        .target(
            name: "Library",
            dependencies: ["MPDProtocol", "SubsonicKit", "CText", "CLinux", "Logging"],
            swiftSettings: strict
        ),
        .target(
            name: "Playback",
            dependencies: ["SubsonicKit", "CMPV", "CResample", "CEncode", "CAudioTap", "CLinux", "Logging"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "ShelvMPD",
            dependencies: [
                "MPDProtocol", "QueueEngine", "SubsonicKit", "Library", "Playback", "CAvahi", "CSQLite", "CLinux",
                "Logging",
            ],
            swiftSettings: strict
        ),

        .target(name: "Support", dependencies: ["CLinux"], path: "Tests/Support", swiftSettings: strict),
        // libFuzzer's header; the library is linked by Scripts/fuzz.
        .systemLibrary(name: "CFuzzer", path: "Tests/CFuzzer"),
        .testTarget(name: "MPDProtocolTests", dependencies: ["MPDProtocol", "Support"], swiftSettings: strict),
        .testTarget(name: "QueueEngineTests", dependencies: ["QueueEngine", "Support"], swiftSettings: strict),
        .testTarget(name: "SubsonicKitTests", dependencies: ["SubsonicKit", "Support"], swiftSettings: strict),
        .testTarget(name: "LibraryTests", dependencies: ["Library", "Support"], swiftSettings: strict),
        .testTarget(
            name: "PlaybackTests",
            dependencies: ["Playback", "SubsonicKit", "Logging", "CLinux", "Support"],
            swiftSettings: strict
        ),
        .testTarget(name: "ServerTests", dependencies: ["ShelvMPD", "Support"], swiftSettings: strict),
        fuzzTests,
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

// For Scripts/fuzz, which builds everything with sanitizers: the other tests would take most of the time.
if Context.environment["SHELV_FUZZ_ONLY"] != nil {
    package.targets.removeAll { $0.isTest && $0.name != fuzzTests.name }
}
