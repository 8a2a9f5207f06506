import CNetCore

/// Determines the media type of a file by the extension of its name.
enum FileType {
    static func of(_ name: String) -> String { known(by: name) ?? "application/octet-stream" }

    /// Returns the media type, or `nil` if the extension is unknown.
    static func known(by name: String) -> String? {
        let type = unsafe Array(name.utf8).withUnsafeBufferPointer { bytes in
            let slice = unsafe nc_media_type_of(nc_slice(data: bytes.baseAddress, length: bytes.count))
            return unsafe String(
                decoding: UnsafeRawBufferPointer(start: slice.data, count: slice.length), as: UTF8.self)
        }
        return type.isEmpty ? nil : type
    }
}
