internal import CNetCore

/// A trust policy of the C core's, released with the scope that made it.
@safe struct OwnedTrust: ~Copyable {
    // SAFETY: include/netcore/trust.h: a policy is immutable, and this is the one reference that deinit gives back.
    let raw: OpaquePointer?

    /// Nil makes none, which to the core means its engine's own policy.
    init(_ policy: TrustPolicy?) throws(NetError) {
        guard let policy else {
            unsafe raw = nil
            return
        }
        var options = unsafe nc_trust_options()
        unsafe options.min_version = policy.minimumVersion == .tls1_3 ? .NC_TLS_1_3 : .NC_TLS_1_2
        unsafe options.accepts_anything = policy.acceptsAnything
        var made: OpaquePointer?
        var error = nc_error()
        let status: nc_status
        switch policy.roots {
        case .file(""), .pem([]):
            unsafe raw = nil
            throw NetError(.tlsRoots, "the trusted authorities are named by an empty path or text", offset: 0)
        case .system:
            status = unsafe nc_trust_new(&made, &options, &error)
        case .file(let path):
            status = unsafe path.withSlice { path in
                unsafe options.roots = .NC_ROOTS_FILE
                unsafe options.ca_file = path
                return unsafe nc_trust_new(&made, &options, &error)
            }
        case .pem(let pem):
            status = unsafe Bytes(pem).withSlice { pem in
                unsafe options.roots = .NC_ROOTS_BYTES
                unsafe options.ca_pem = pem
                return unsafe nc_trust_new(&made, &options, &error)
            }
        }
        unsafe raw = made
        if status != .NC_OK {
            throw NetError(error)
        }
    }

    deinit {
        unsafe nc_trust_release(raw)
    }
}
