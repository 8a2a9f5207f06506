#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif
import Dispatch
import Synchronization

/// What a pipe or a terminal gives, piece by piece. It is read on a thread of its own, which may wait.
struct InputPieces: AsyncSequence, Sendable {
    typealias Element = [UInt8]

    private static let pieceBytes = 64 << 10
    private let descriptor: Int32
    private let queue = DispatchQueue(label: "nk.input")
    private let read = Counter()

    private final class Counter: Sendable {
        let bytes = Atomic(0)
    }

    /// "-" is standard input. A file stays open until the process ends.
    init(_ path: String) throws(SystemError) {
        descriptor = path == "-" ? 0 : unsafe open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 {
            throw SystemError(number: errno)
        }
    }

    /// Bytes given so far.
    var count: Int { read.bytes.load(ordering: .relaxed) }

    func makeAsyncIterator() -> Iterator {
        Iterator(pieces: self)
    }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let pieces: InputPieces

        mutating func next() async throws -> [UInt8]? {
            let pieces = pieces
            let outcome: Result<[UInt8], SystemError> = await withCheckedContinuation { continuation in
                pieces.queue.async { continuation.resume(returning: pieces.readPiece()) }
            }
            let piece = try outcome.get()
            return piece.isEmpty ? nil : piece
        }
    }

    private func readPiece() -> Result<[UInt8], SystemError> {
        var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
        while true {
            let count = unsafe systemRead(descriptor, &piece, piece.count)
            if count >= 0 {
                read.bytes.add(count, ordering: .relaxed)
                return .success(Array(piece.prefix(count)))
            }
            if errno != EINTR {
                return .failure(SystemError(number: errno))
            }
        }
    }
}

/// read(2), whose name a member may have.
func systemRead(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    unsafe read(descriptor, bytes, count)
}
