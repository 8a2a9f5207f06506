internal import CNetCore

/// Joins a request's URL to a base (RFC 3986, 5.2), with the base's path as a directory, and percent-encodes it where
/// needed.
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

/// Resolves a reference against its base URL (RFC 3986, 5.2), and keeps dot segments if required.
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
