internal import CNetCore

/// Reads a form whose sources are marks: at a mark, the reader of the form produces the part.
@safe final class FormReader {
    enum Step {
        case piece(Bytes)
        /// The index of the source in the form.
        case source(Int)
        case end
    }

    private static let pieceBytes = 64 << 10

    /// Returns sources without bytes, until the transfer's id shows how many of them were produced elsewhere. Their
    /// context is no address but their number, from 1.
    static func marks(_ count: Int) -> [nc_body_source] {
        unsafe (0..<count).map { number in
            let context = unsafe UnsafeMutableRawPointer(bitPattern: number + 1)
            return unsafe nc_body_source(ctx: context, pull: pullMark, rewind: rewindMark)
        }
    }

    // SAFETY: include/netcore/multipart.h: a reader is confined to one thread at a time, as is this class, which is not
    // Sendable; deinit releases it.
    private let raw: OpaquePointer
    private let form: CoreForm
    private var made: UInt64 = 0
    private var isOver = false

    init(_ form: CoreForm) throws(NetError) {
        var opened: OpaquePointer?
        var error = nc_error()
        let status = unsafe nc_multipart_reader_new(&opened, form.raw, &error)
        guard status == .NC_OK, let opened = unsafe opened else { throw NetError(error) }
        unsafe raw = opened
        self.form = form
    }

    deinit {
        unsafe nc_multipart_reader_free(raw)
    }

    /// The form's length.
    var length: Int { Int(clamping: unsafe nc_multipart_reader_length(raw)) }

    /// Returns the next bytes, or the source at the current position.
    func next() throws(NetError) -> Step {
        if isOver {
            return .end
        }
        var pulled = nc_pull.NC_PULL_MORE
        let piece = unsafe [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { buffer, filled in
            if let start = buffer.baseAddress {
                pulled = unsafe nc_multipart_read(raw, made, start, buffer.count, &filled)
            }
        }
        switch pulled {
        case .NC_PULL_MORE, .NC_PULL_END:
            isOver = pulled == .NC_PULL_END
            return .piece(Bytes(piece))
        case .NC_PULL_LATER:
            return .source(Int(made))
        default:
            var error = nc_error()
            _ = unsafe nc_multipart_reader_error(raw, &error)
            throw NetError(error)
        }
    }

    /// Continues behind a mark whose part was produced.
    func skipMark() {
        made += 1
    }
}

private func pullMark(
    _ context: UnsafeMutableRawPointer?, _ id: UInt64, _ bytes: UnsafeMutablePointer<UInt8>, _ capacity: Int,
    _ filled: UnsafeMutablePointer<Int>
) -> nc_pull {
    id >= UInt64(UInt(bitPattern: context)) ? .NC_PULL_END : .NC_PULL_LATER
}

private func rewindMark(_ context: UnsafeMutableRawPointer?, _ id: UInt64) -> Bool { true }
