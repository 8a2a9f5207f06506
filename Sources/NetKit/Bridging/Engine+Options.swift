internal import CNetCore
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension Engine {
    /// The options of an engine.
    struct Options {
        var maxInFlight: UInt32
        var maxConnectionsPerHost: UInt32
        var maxStreams: UInt32
        var maxIdleConnections: UInt32
        var maxWaiting: UInt32
        var trust: TrustPolicy
        var refusesPlaintext: Bool
        var proxy: Proxy?
        var cookies: StatePersistence
        var netrc: NetrcSource
        var hsts: StatePersistence
        var altSvc: StatePersistence
        var dnsOverHTTPS: String?
        var addressFamily: AddressFamily
        var httpVersionPolicy: HTTPVersionPolicy
        var maxSendBytesPerSecond: Int?
        var maxReceiveBytesPerSecond: Int?

        /// Throws ``NetError/Code/usage`` for an empty path or URL, which the core would treat as none.
        func check() throws(NetError) {
            let paths = [cookies.path, hsts.path, altSvc.path, netrc.path, dnsOverHTTPS]
            if paths.contains("") {
                throw NetError(.usage, "cookies, hsts, altSvc, netrc or dnsOverHTTPS has an empty path or URL")
            }
        }

        /// Calls `make` with the C value of the options, which is valid during the call.
        func withDescription(_ make: (inout nc_engine_options) -> nc_status) -> nc_status {
            unsafe StringArena.with(bytes: textBytes) { text in
                var settings = unsafe nc_engine_options()
                unsafe settings.max_in_flight = maxInFlight
                unsafe settings.max_per_host = maxConnectionsPerHost
                unsafe settings.max_streams = maxStreams
                unsafe settings.max_idle_connections = maxIdleConnections
                unsafe settings.max_waiting = maxWaiting
                unsafe settings.refuses_plaintext = refusesPlaintext
                unsafe settings.cookies = cookies.cValue
                unsafe settings.cookie_file = text.put(cookies.path)
                unsafe settings.uses_netrc = netrc != .off
                unsafe settings.netrc_file = text.put(netrc.path)
                unsafe settings.uses_hsts = hsts != .off
                unsafe settings.hsts_file = text.put(hsts.path)
                unsafe settings.uses_alt_svc = altSvc != .off
                unsafe settings.alt_svc_file = text.put(altSvc.path)
                unsafe settings.doh_url = text.put(dnsOverHTTPS)
                unsafe settings.family = addressFamily.cValue
                unsafe settings.http = httpVersionPolicy.cValue
                unsafe settings.max_send_bytes_per_s = Limits.rate(maxSendBytesPerSecond)
                unsafe settings.max_receive_bytes_per_s = Limits.rate(maxReceiveBytesPerSecond)
                return unsafe proxy.withDescription(in: &text) { proxy, _ in
                    unsafe settings.proxy = proxy
                    return unsafe make(&settings)
                }
            }
        }

        private var textBytes: Int {
            let paths = [cookies.path, hsts.path, altSvc.path, netrc.path, dnsOverHTTPS]
            return paths.reduce(proxy?.textBytes ?? 0) { $0 + ($1?.utf8.count ?? 0) }
        }
    }
}

extension StatePersistence {
    fileprivate var path: String? {
        if case .file(let path) = self { path } else { nil }
    }

    fileprivate var cValue: nc_cookie_choice {
        switch self {
        case .off: .NC_COOKIES_OFF
        case .memory: .NC_COOKIES_MEMORY
        case .file: .NC_COOKIES_FILE
        }
    }
}

extension AddressFamily {
    fileprivate var cValue: nc_address_family {
        switch self {
        case .any: .NC_FAMILY_ANY
        case .ipv4: .NC_FAMILY_IPV4
        case .ipv6: .NC_FAMILY_IPV6
        }
    }
}

extension NetrcSource {
    fileprivate var path: String? {
        if case .file(let path) = self { path } else { nil }
    }

    /// The path of the file. `nil` if there is no file, or if the home directory is not set in the environment.
    var knownPath: String? {
        switch self {
        case .off: return nil
        case .home:
            guard let home = unsafe getenv("HOME") else { return nil }
            return unsafe String(cString: home) + "/.netrc"
        case .file(let path): return path
        }
    }
}
