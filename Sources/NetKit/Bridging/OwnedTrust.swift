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
        func make(_ options: inout nc_trust_options) -> nc_status {
            unsafe policy.identity.withOptions(in: &options) { options in
                unsafe nc_trust_new(&made, &options, &error)
            }
        }
        if let identity = policy.identity, identity.isEmpty {
            unsafe raw = nil
            throw NetError(.tlsIdentity, "the client certificate is named by an empty path or text", offset: 0)
        }
        let status: nc_status
        switch policy.roots {
        case .file(""), .pem([]):
            unsafe raw = nil
            throw NetError(.tlsRoots, "the trusted authorities are named by an empty path or text", offset: 0)
        case .system:
            status = unsafe make(&options)
        case .file(let path):
            status = unsafe path.withSlice { path in
                unsafe options.roots = .NC_ROOTS_FILE
                unsafe options.ca_file = path
                return unsafe make(&options)
            }
        case .pem(let pem):
            status = unsafe Bytes(pem).withSlice { pem in
                unsafe options.roots = .NC_ROOTS_BYTES
                unsafe options.ca_pem = pem
                return unsafe make(&options)
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

extension ClientIdentity {
    fileprivate var isEmpty: Bool {
        switch source {
        case .files(let certificate, _): certificate.isEmpty
        case .texts(let certificate, _): certificate.isEmpty
        }
    }
}

extension ClientIdentity? {
    /// Writes the identity to the options, for the length of the call.
    fileprivate func withOptions(
        in options: inout nc_trust_options, _ body: (inout nc_trust_options) -> nc_status
    ) -> nc_status {
        guard let self else { return unsafe body(&options) }
        return unsafe self.password.withSlice { password in
            unsafe options.identity_password = password
            switch self.source {
            case .files(let certificate, let key):
                return unsafe certificate.withSlice { certificate in
                    unsafe key.withSlice { key in
                        unsafe options.identity_file = certificate
                        unsafe options.identity_key_file = key
                        return unsafe body(&options)
                    }
                }
            case .texts(let certificate, let key):
                return unsafe Bytes(certificate).withSlice { certificate in
                    unsafe Bytes(key).withSlice { key in
                        unsafe options.identity_pem = certificate
                        unsafe options.identity_key_pem = key
                        return unsafe body(&options)
                    }
                }
            }
        }
    }
}
