#if CJSON
import CNetCJSON
import CNetCore

/// Reads JSON texts as C programs do that link libnetcore_cjson.
enum CJSONTree {
    /// Reads a text as a tree of cJSON. Returns the text that cJSON prints for the tree.
    static func printed(_ text: [UInt8]) throws(CJSONTreeError) -> [UInt8] {
        var tree: UnsafeMutablePointer<cJSON>?
        var error = nc_error()
        let status = unsafe text.withUnsafeBufferPointer { bytes in
            unsafe nc_cjson_read(nc_slice(data: bytes.baseAddress, length: bytes.count), nil, &tree, &error)
        }
        defer { unsafe cJSON_Delete(tree) }
        guard status == .NC_OK else { throw CJSONTreeError(error) }
        guard let printed = unsafe cJSON_Print(tree) else { throw CJSONTreeError() }
        defer { unsafe cJSON_free(printed) }
        return unsafe Array(String(cString: printed).utf8)
    }
}

/// The reason why a text has no tree.
struct CJSONTreeError: Error {
    let message: String
    /// The offset of the value, or `nil` if no value is the reason.
    let offset: Int?

    /// Creates the error for a failed allocation.
    fileprivate init() {
        message = "not enough memory"
        offset = nil
    }

    fileprivate init(_ error: nc_error) {
        message = unsafe withUnsafeBytes(of: error.message) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        offset = error.offset < 0 ? nil : Int(error.offset)
    }
}
#endif
