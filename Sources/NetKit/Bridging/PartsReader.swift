internal import CNetCore

/// Parses a multipart body while it arrives. Confined: one thread at a time.
@safe final class PartsReader {
    enum Step {
        case head(Headers)
        case partEnd
        /// The last boundary.
        case end
    }

    // SAFETY: include/netcore/parts.h: a reader is confined to one thread at a time, as is this class, which is not
    // Sendable; deinit releases it.
    private let raw: OpaquePointer

    /// Throws ``NetError/Code/badResponse`` for another type, or one without a boundary.
    init(contentType: String, maxParts: UInt64, limits: PartLimits) throws(NetError) {
        var made: OpaquePointer?
        var error = nc_error()
        var options = nc_parts_options(
            max_parts: maxParts, max_part_bytes: UInt64(clamping: limits.maxPartBytes),
            max_head_bytes: max(0, limits.maxHeadBytes))
        let status = unsafe contentType.withSlice { unsafe nc_parts_new(&made, $0, &options, &error) }
        guard status == .NC_OK, let made = unsafe made else { throw NetError(error) }
        unsafe raw = made
    }

    deinit {
        unsafe nc_parts_free(raw)
    }

    /// Returns the next event of `chunk` from `offset` on and moves the offset behind it, or `nil` at the chunk's end.
    /// Content is appended to `content`, unless it is `nil`.
    func next(
        in chunk: Bytes, from offset: inout Int, into content: inout [UInt8]?
    ) throws(NetError) -> Step? {
        var error = nc_error()
        var event = unsafe nc_parts_event()
        let status = unsafe chunk.withSlice { whole in
            var status = nc_status.NC_OK
            var rest = unsafe nc_slice(data: whole.data.map { unsafe $0 + offset }, length: whole.length - offset)
            repeat {
                status = unsafe nc_parts_next(raw, &rest, &event, &error)
                if status == .NC_OK, unsafe event.kind == .NC_PARTS_CONTENT {
                    unsafe content?.append(
                        contentsOf: UnsafeBufferPointer(start: event.bytes.data, count: event.bytes.length))
                }
            } while unsafe status == .NC_OK && event.kind == .NC_PARTS_CONTENT
            offset = unsafe whole.length - rest.length
            return status
        }
        guard status == .NC_OK else { throw NetError(error) }
        switch unsafe event.kind {
        case .NC_PARTS_HEAD:
            let fields = unsafe UnsafeBufferPointer(start: event.fields, count: event.field_count)
            return unsafe .head(Headers(fields.map { unsafe .init($0) }))
        case .NC_PARTS_PART_END: return .partEnd
        case .NC_PARTS_END: return .end
        default: return nil
        }
    }

    /// Ends the body. Throws ``NetError/Code/cutShort`` without its last boundary.
    func finish() throws(NetError) {
        var error = nc_error()
        guard unsafe nc_parts_finish(raw, &error) == .NC_OK else { throw NetError(error) }
    }
}
