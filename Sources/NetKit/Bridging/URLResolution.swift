internal import CNetCore

/// Reads a request's URL at a base (RFC 3986, 5.2). A base's path is taken as a folder, with or without its last "/".
func resolveURL(_ reference: String, at base: String) throws(NetError) -> String {
    var folder = base
    if let path = base.firstIndex(where: { $0 == "?" || $0 == "#" }) {
        folder = String(base[..<path])
    }
    if !folder.hasSuffix("/") {
        folder += "/"
    }
    return try resolveReference(reference, at: folder)
}

/// Reads a reference at the URL that gave it (RFC 3986, 5.2).
package func resolveReference(_ reference: String, at base: String) throws(NetError) -> String {
    var buffer = unsafe nc_buf_init(Int(NC_URL_MAX_BYTES) * 2)
    defer { unsafe nc_buf_deinit(&buffer) }
    var error = nc_error()
    let status = unsafe base.withSlice { base in
        unsafe reference.withSlice { reference in unsafe nc_url_resolve(&buffer, base, reference, &error) }
    }
    if status != .NC_OK {
        throw NetError(error)
    }
    return unsafe nc_buf_slice(&buffer).text
}
