internal import CNetCore

extension Bytes {
    /// Whether the bytes are one JSON text (RFC 8259).
    var isJSON: Bool {
        unsafe withSlice { unsafe nc_json_check($0, nil, nil, nil) } == .NC_OK
    }
}
