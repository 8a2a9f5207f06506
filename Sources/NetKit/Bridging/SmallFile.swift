#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif
internal import Dispatch

/// Reads whole files on a thread that may wait for the disk.
enum SmallFile {
    /// More than the size of any certificate or list of passwords.
    private static let maximumBytes = 16 << 20
    private static let queue = DispatchQueue(label: "netkit.files")

    /// Throws ``NetError/Code/file`` if it is no regular file, or cannot be read.
    static func contents(of path: String) async throws(NetError) -> Bytes {
        let read: Result<Bytes, NetError> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result { () throws(NetError) in try readWhole(path) }) }
        }
        return try read.get()
    }

    private static func readWhole(_ path: String) throws(NetError) -> Bytes {
        let file = try RegularFile(path)
        var contents: [UInt8] = []
        while file.byteCount <= maximumBytes, contents.count <= maximumBytes {
            let piece = try file.read(upTo: 1 << 16)
            if piece.isEmpty {
                return Bytes(contents)
            }
            contents += piece
        }
        throw NetError(.file, "'\(path)' is larger than \(maximumBytes >> 20) MiB")
    }
}
