internal import CNetCore

extension URLParts {
    package init(_ url: String) {
        self = unsafe url.withSlice { unsafe URLParts(nc_url_split($0)) }
    }

    private init(_ parts: nc_url_parts) {
        self.init(
            scheme: unsafe parts.scheme.text, host: unsafe parts.has_authority ? parts.host.text : nil,
            writtenPort: unsafe parts.port.text, path: unsafe parts.path.text,
            query: unsafe parts.has_query ? parts.query.text : nil)
    }
}

// MARK: Hosts and origins

extension String {
    /// The canonical form of the host: ASCII in lower case, IDNA, addresses in one spelling, no brackets; `nil` for an
    /// invalid host.
    package var canonicalHost: String? {
        unsafe canonical { unsafe nc_url_canonical_host(&$0, $1, nil) }
    }

    /// The canonical host of an absolute http or https URL; `nil` for other text.
    var canonicalURLHost: String? {
        unsafe canonical { unsafe nc_url_host(&$0, $1, nil) }
    }

    /// Scheme, canonical host, and the port unless it is the scheme's default; `nil` without a host. A URL that is
    /// neither http nor https, or has an invalid host, keeps its spelling in lower case.
    var origin: String? {
        if let canonical = unsafe canonical({ unsafe nc_url_origin(&$0, $1, nil) }) {
            return canonical
        }
        let written = unsafe withSlice { url in
            let parts = unsafe nc_url_split(url)
            guard unsafe parts.has_authority else { return nil as String? }
            let userinfo = unsafe parts.has_userinfo ? parts.userinfo.length + 1 : 0
            let place = unsafe parts.authority.text.utf8.dropFirst(userinfo)
            return unsafe "\(parts.scheme.text)://\(Substring(place))".lowercased()
        }
        return written
    }

    /// Returns true if scheme, host and port are equal. An empty URL belongs to a stub and matches any.
    package func hasSameOrigin(as other: String) -> Bool {
        // URLs that have no origin, such as a stub's, are compared as written.
        other.isEmpty || isSameOrigin(other) || origin == other.origin
    }

    /// Returns true if both are http or https URLs with the same origin.
    func isSameOrigin(_ other: String) -> Bool {
        unsafe withSlice { own in unsafe other.withSlice { unsafe nc_url_is_same_origin(own, $0) } }
    }

    /// Returns true if the URL has this scheme in any letter case.
    package func hasScheme(_ scheme: String) -> Bool {
        unsafe withSlice { url in
            unsafe scheme.withSlice { unsafe nc_slice_is_equal_ignoring_case(nc_url_split(url).scheme, $0) }
        }
    }

    /// Whether the URL is absolute, with the scheme http or https and an authority.
    var isAbsoluteWebURL: Bool {
        unsafe withSlice { url in
            let parts = unsafe nc_url_split(url)
            return unsafe parts.has_authority
                && ["http", "https"].contains { scheme in
                    unsafe scheme.withSlice { unsafe nc_slice_is_equal_ignoring_case(parts.scheme, $0) }
                }
        }
    }

    private func canonical(_ append: (inout nc_buf, nc_slice) -> nc_status) -> String? {
        var buffer = unsafe nc_buf_init(512)
        defer { unsafe nc_buf_deinit(&buffer) }
        let status = unsafe withSlice { unsafe append(&buffer, $0) }
        return status == .NC_OK ? unsafe nc_buf_slice(&buffer).text : nil
    }
}

// MARK: Userinfo and query

extension String {
    /// The position of name and password with the "@" behind them; empty without them.
    private var userinfo: Range<Int> {
        var start = 0
        var length = 0
        unsafe withSlice { unsafe nc_url_find_credentials($0, &start, &length) }
        return start..<start + length
    }

    /// The URL without name and password.
    package var withoutUserinfo: String {
        let userinfo = userinfo
        guard !userinfo.isEmpty else { return self }
        return "\(Substring(utf8.prefix(userinfo.lowerBound)))\(Substring(utf8.dropFirst(userinfo.upperBound)))"
    }

    /// Whether there is a name or a password before the host.
    var hasUserinfo: Bool { !userinfo.isEmpty }

    /// Returns the URL with the name and the password of another one, if it has none itself.
    func withUserinfo(of other: String) -> String {
        var url = unsafe nc_buf_init(Int(NC_URL_MAX_BYTES) + 1)
        defer { unsafe nc_buf_deinit(&url) }
        unsafe withSlice { unsafe nc_buf_append(&url, $0) }
        guard unsafe nc_buf_status(&url) == .NC_OK,
            unsafe other.withSlice({ unsafe nc_redirect_keep_credentials(&url, $0, nil) }) == .NC_OK
        else { return self }
        return unsafe nc_buf_slice(&url).text
    }

    /// The URL up to its query or fragment. Searches scalars, as ``cut(atFirst:)``.
    var withoutQuery: Substring { Substring(unicodeScalars.prefix { $0 != "?" && $0 != "#" }) }

    /// The URL without query, name and password, for messages: these may contain secrets.
    var displayedLocation: String { String(withoutUserinfo.withoutQuery) }
}

/// Returns the absolute URL of a request whose URL may be relative to a base URL (RFC 3986, 5.2). The path of the base
/// is treated as a directory. Characters that a URL must not contain are percent-encoded.
func joinURL(_ path: String, to base: String, keepsBasePath: Bool) throws(NetError) -> String {
    try unsafe makeURL { url, error in
        unsafe base.withSlice { base in
            unsafe path.withSlice { path in
                unsafe nc_url_join(
                    &url, base, path, keepsBasePath ? .NC_JOIN_KEEPS_BASE_PATH : .NC_JOIN_BY_RFC, &error)
            }
        }
    }
}

/// Resolves a URL reference against its base URL (RFC 3986, 5.2). With `keepsDotSegments`, "/./" and "/../" are not
/// removed.
package func resolveReference(
    _ reference: String, at base: String, keepsDotSegments: Bool = false
) throws(NetError) -> String {
    try unsafe makeURL { url, error in
        unsafe base.withSlice { base in
            unsafe reference.withSlice { reference in
                unsafe keepsDotSegments
                    ? nc_url_resolve_as_is(&url, base, reference, &error)
                    : nc_url_resolve(&url, base, reference, &error)
            }
        }
    }
}

private func makeURL(_ make: (inout nc_buf, inout nc_error) -> nc_status) throws(NetError) -> String {
    var buffer = unsafe nc_buf_init(Int(NC_URL_MAX_BYTES) * 6)
    defer { unsafe nc_buf_deinit(&buffer) }
    var error = nc_error()
    let status = unsafe make(&buffer, &error)
    if status != .NC_OK {
        throw NetError(error)
    }
    return unsafe nc_buf_slice(&buffer).text
}
