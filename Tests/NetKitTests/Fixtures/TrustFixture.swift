import CNetTesting

/// A fixture of CNetTesting: a server with a certificate chain, the client's pins, and the expected outcome.
@safe final class TrustFixture: Sendable {
    enum Failure: Error {
        case notSet(Int)
    }

    /// The numbers of all fixtures.
    static var all: Range<Int> { 0..<nct_trust_fixture_count() }

    // SAFETY: include/nettesting/trust_fixture.h: a fixture does not change after its set-up. `stop` is called once, in `deinit`.
    private nonisolated(unsafe) let raw: OpaquePointer
    private let index: Int

    init(_ index: Int) throws {
        guard let raw = unsafe nct_trust_fixture_start(index) else { throw Failure.notSet(index) }
        unsafe self.raw = raw
        self.index = index
    }

    deinit {
        unsafe nct_trust_fixture_stop(raw)
    }

    static func name(_ index: Int) -> String { unsafe String(cString: nct_trust_fixture_name(index)) }

    var name: String { Self.name(index) }
    /// The expected status, by its name in the library.
    var ending: String { unsafe String(cString: nct_trust_fixture_expectation(index)) }
    var acceptsAnything: Bool { nct_trust_fixture_accepts_anything(index) }
    var reportsOnly: Bool { nct_trust_fixture_reports_only(index) }
    var url: String { unsafe String(cString: nct_trust_fixture_url(raw)) }
    var host: String { unsafe String(cString: nct_trust_fixture_host(raw)) }
    var port: UInt16 { unsafe nct_server_port(nct_trust_fixture_server(raw)) }
    var authorities: [UInt8] { Array(unsafe String(cString: nct_trust_fixture_ca_pem(raw)).utf8) }
    var chain: [UInt8] { Array(unsafe String(cString: nct_trust_fixture_chain_pem(raw)).utf8) }
    var requestCount: Int { unsafe nct_server_request_count(nct_trust_fixture_server(raw)) }

    /// The pins, each as `PATTERN=PIN`.
    var pins: [String] {
        var pins: [String] = []
        while let pin = unsafe nct_trust_fixture_pin(raw, pins.count) {
            unsafe pins.append(String(cString: pin))
        }
        return pins
    }
}
