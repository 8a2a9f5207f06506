// NetKit's Swift interface does not contain the capabilities of the libraries, so nk reads them from the C core.
import CNetCore

/// The versions and capabilities of the libraries, which are determined at run time.
enum Versions {
    static var nk: String { unsafe String(cString: nc_version()) }

    static var curl: String { unsafe String(cString: nc_capabilities_query().curl_version) }

    static var tls: String {
        let name = unsafe String(cString: nc_capabilities_query().tls_backend)
        return name.isEmpty ? "no TLS" : name
    }

    /// The value of Accept-Encoding with the content codings that the library can decode.
    static var codings: String {
        let capabilities = unsafe nc_capabilities_query()
        return unsafe "gzip, deflate" + (capabilities.has_brotli ? ", br" : "")
            + (capabilities.has_zstd ? ", zstd" : "")
    }

    /// The URL schemes that nk supports. NetKit does not use the other schemes of libcurl, such as ftp.
    static var protocols: [String] {
        let capabilities = unsafe nc_capabilities_query()
        return unsafe ["http"] + (capabilities.tls_backend.pointee == 0 ? [] : ["https"])
    }

    /// The optional features that nk has on this machine. If curl has the same feature, its name is used.
    static var features: [String] {
        let capabilities = unsafe nc_capabilities_query()
        let allFeatures: [(String, Bool)] = unsafe [
            ("trust-policies", capabilities.has_trust_policies), ("HTTP2", capabilities.has_http2),
            ("HTTP3", capabilities.has_http3),
            ("gzip", capabilities.has_gzip), ("brotli", capabilities.has_brotli), ("zstd", capabilities.has_zstd),
            ("HTTPS-proxy", capabilities.has_https_proxy), ("IDN", true), ("IPv6", true),
            ("PSL", capabilities.has_public_suffix_list), ("UnixSockets", true),
        ]
        return allFeatures.filter(\.1).map(\.0)
    }
}
