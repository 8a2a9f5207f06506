import CNetTesting

/// An authority and its certificate for localhost and 127.0.0.1, for third-party servers.
struct GeneratedCertificates {
    enum Failure: Error {
        case notMade
    }

    let authority: [UInt8]
    let certificate: [UInt8]
    let key: [UInt8]
    /// The pin of the certificate's key.
    let pin: String

    init() throws {
        let root = unsafe Self.make("Authority", isAuthority: true, issuer: nil)
        defer { unsafe nct_test_certificate_free(root) }
        let leaf = unsafe Self.make("localhost", isAuthority: false, issuer: root)
        defer { unsafe nct_test_certificate_free(leaf) }
        guard let root = unsafe root, let leaf = unsafe leaf else { throw Failure.notMade }
        authority = unsafe Array(String(cString: nct_test_certificate_pem(root)).utf8)
        certificate = unsafe Array(String(cString: nct_test_certificate_pem(leaf)).utf8)
        key = unsafe Array(String(cString: nct_test_certificate_key_pem(leaf)).utf8)
        pin = unsafe String(cString: nct_test_certificate_pin(leaf))
    }

    private static func make(_ name: String, isAuthority: Bool, issuer: OpaquePointer?) -> OpaquePointer? {
        unsafe name.withCString { name in
            unsafe "DNS:localhost,IP:127.0.0.1".withCString { names in
                var options = unsafe nct_certificate_options(
                    issuer: issuer, same_key_as: nil, common_name: name, names: isAuthority ? nil : names,
                    constraints: nil, is_authority: isAuthority, begins_in_days: 0, ends_in_days: 0, rsa_bits: 0,
                    uses_sha1: false, is_bare: false, is_loose: false)
                return unsafe nct_test_certificate_create(&options)
            }
        }
    }
}
