internal import CNetCore

extension String {
    /// The canonical form of the host: ASCII in lower case, IDNA, addresses in one spelling, no brackets; `nil` for an
    /// invalid host.
    var canonicalHost: String? {
        unsafe canonical { unsafe nc_url_canonical_host(&$0, $1, nil) }
    }

    /// The canonical host of an absolute http or https URL; `nil` for other text.
    var canonicalURLHost: String? {
        unsafe canonical { unsafe nc_url_host(&$0, $1, nil) }
    }

    /// The origin of an absolute http or https URL, with a canonical host; `nil` for other text.
    var canonicalOrigin: String? {
        unsafe canonical { unsafe nc_url_origin(&$0, $1, nil) }
    }

    private func canonical(_ append: (inout nc_buf, nc_slice) -> nc_status) -> String? {
        var buffer = unsafe nc_buf_init(512)
        defer { unsafe nc_buf_deinit(&buffer) }
        let status = unsafe withSlice { unsafe append(&buffer, $0) }
        return status == .NC_OK ? unsafe nc_buf_slice(&buffer).text : nil
    }
}
