import CNetTesting

/// A scene of CNetTesting: a server with some chain, what its client pins, and how the meeting must end.
@safe final class TrustScene: Sendable {
    enum Failure: Error {
        case notSet(Int)
    }

    /// Every scene's number.
    static var all: Range<Int> { 0..<nct_scene_count() }

    // SAFETY: include/nettesting/scene.h: a scene that is set does not change; stop is called once, in deinit.
    private nonisolated(unsafe) let raw: OpaquePointer
    private let index: Int

    init(_ index: Int) throws {
        guard let raw = unsafe nct_scene_start(index) else { throw Failure.notSet(index) }
        unsafe self.raw = raw
        self.index = index
    }

    deinit {
        unsafe nct_scene_stop(raw)
    }

    static func name(_ index: Int) -> String { unsafe String(cString: nct_scene_name(index)) }

    var name: String { Self.name(index) }
    /// The library's name of a status.
    var ending: String { unsafe String(cString: nct_scene_ending(index)) }
    var acceptsAnything: Bool { nct_scene_accepts_anything(index) }
    var reportsOnly: Bool { nct_scene_reports_only(index) }
    var url: String { unsafe String(cString: nct_scene_url(raw)) }
    var host: String { unsafe String(cString: nct_scene_host(raw)) }
    var port: UInt16 { unsafe nct_server_port(nct_scene_server(raw)) }
    var authorities: [UInt8] { Array(unsafe String(cString: nct_scene_ca_pem(raw)).utf8) }
    var chain: [UInt8] { Array(unsafe String(cString: nct_scene_chain_pem(raw)).utf8) }
    var requestCount: Int { unsafe nct_server_request_count(nct_scene_server(raw)) }

    /// `PATTERN=PIN`, each.
    var pins: [String] {
        var pins: [String] = []
        while let pin = unsafe nct_scene_pin(raw, pins.count) {
            unsafe pins.append(String(cString: pin))
        }
        return pins
    }
}
