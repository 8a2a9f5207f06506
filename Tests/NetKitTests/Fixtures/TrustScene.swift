import CNetTesting

/// A fixture of CNetTesting: a server with a certificate chain, the client's pins, and the expected outcome.
@safe final class TrustScene: Sendable {
    enum Failure: Error {
        case notSet(Int)
    }

    /// The numbers of all fixtures.
    static var all: Range<Int> { 0..<nct_scene_count() }

    // SAFETY: include/nettesting/scene.h: a scene does not change after its set-up. `stop` is called once, in `deinit`.
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
    /// The expected status, by its name in the library.
    var ending: String { unsafe String(cString: nct_scene_ending(index)) }
    var acceptsAnything: Bool { nct_scene_accepts_anything(index) }
    var reportsOnly: Bool { nct_scene_reports_only(index) }
    var url: String { unsafe String(cString: nct_scene_url(raw)) }
    var host: String { unsafe String(cString: nct_scene_host(raw)) }
    var port: UInt16 { unsafe nct_server_port(nct_scene_server(raw)) }
    var authorities: [UInt8] { Array(unsafe String(cString: nct_scene_ca_pem(raw)).utf8) }
    var chain: [UInt8] { Array(unsafe String(cString: nct_scene_chain_pem(raw)).utf8) }
    var requestCount: Int { unsafe nct_server_request_count(nct_scene_server(raw)) }

    /// The pins, each as `PATTERN=PIN`.
    var pins: [String] {
        var pins: [String] = []
        while let pin = unsafe nct_scene_pin(raw, pins.count) {
            unsafe pins.append(String(cString: pin))
        }
        return pins
    }
}
