#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif
import Dispatch

/// The chunks of a pipe or a terminal. They are read on a separate thread, because reading may block.
struct InputChunks: AsyncSequence, Sendable {
    typealias Element = [UInt8]

    private static let pieceBytes = 64 << 10
    private let path: String
    private let descriptor: Int32
    private let queue = DispatchQueue(label: "nk.input")

    /// Opens a file. "-" is standard input. The file stays open until the process ends.
    init(_ path: String) throws(SystemError) {
        self.path = path
        descriptor = path == "-" ? 0 : unsafe open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 {
            throw SystemError(number: errno)
        }
    }

    func makeAsyncIterator() -> Iterator {
        Iterator(pieces: self)
    }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let pieces: InputChunks

        mutating func next() async throws -> [UInt8]? {
            let pieces = pieces
            let outcome: Result<[UInt8], SystemError> = await withCheckedContinuation { continuation in
                pieces.queue.async { continuation.resume(returning: pieces.readPiece()) }
            }
            switch outcome {
            case .success(let piece): return piece.isEmpty ? nil : piece
            case .failure(let error): throw NetKitCLI.Failure(reading: error, from: pieces.path)
            }
        }
    }

    private func readPiece() -> Result<[UInt8], SystemError> {
        var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
        while true {
            let count = unsafe systemRead(descriptor, &piece, piece.count)
            if count >= 0 {
                return .success(Array(piece.prefix(count)))
            }
            if errno != EINTR {
                return .failure(SystemError(number: errno))
            }
        }
    }
}

/// Calls read(2). It has another name because a method named `read` may hide the system's function.
///
/// If the descriptor is non-blocking, it waits until data is available. Another process that shares the pipe or
/// terminal may have set that mode.
func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    while true {
        let count = unsafe read(descriptor, bytes, count)
        if count >= 0 || errno != EAGAIN {
            return count
        }
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&waiting, 1, -1)
    }
}
