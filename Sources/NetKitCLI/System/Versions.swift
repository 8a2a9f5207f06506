// The capabilities of the libraries are not part of NetKit's interface, so nk reads them from the C core.
import CNetCore

/// The versions of the libraries, read at run time.
enum Versions {
    static var nk: String { unsafe String(cString: nc_version()) }

    static var curl: String { unsafe String(cString: nc_capabilities_query().curl_version) }

    static var tls: String {
        let name = unsafe String(cString: nc_capabilities_query().tls_backend)
        return name.isEmpty ? "no TLS" : name
    }

    /// The content codings that are requested for decoding.
    static var codings: String {
        let can = unsafe nc_capabilities_query()
        return unsafe "gzip, deflate" + (can.has_brotli ? ", br" : "") + (can.has_zstd ? ", zstd" : "")
    }

    /// The URL schemes that nk supports. libcurl's list is longer (ftp, ldap, ws); NetKit uses no others.
    static var protocols: [String] {
        let can = unsafe nc_capabilities_query()
        return unsafe ["http"] + (can.tls_backend.pointee == 0 ? [] : ["https"])
    }

    /// The optional features that nk has on this machine. The names are curl's, if curl has the feature.
    static var features: [String] {
        let can = unsafe nc_capabilities_query()
        let named: [(String, Bool)] = unsafe [
            ("trust-policies", can.has_trust_policies), ("HTTP2", can.has_http2), ("HTTP3", can.has_http3),
            ("gzip", can.has_gzip), ("brotli", can.has_brotli), ("zstd", can.has_zstd),
            ("HTTPS-proxy", can.has_https_proxy), ("IDN", true), ("IPv6", true),
            ("PSL", can.has_public_suffix_list), ("UnixSockets", true),
        ]
        return named.filter(\.1).map(\.0)
    }
}
