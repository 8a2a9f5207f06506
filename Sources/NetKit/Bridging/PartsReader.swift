internal import CNetCore

/// Parses a multipart body while it arrives. Confined: one thread at a time.
@safe final class PartsReader {
    enum Step {
        case head(Headers)
        case partEnd
        /// The last boundary of the body.
        case end
    }

    // SAFETY: include/netcore/parts.h: a reader is confined to one thread at a time. So is this class, because it is
    // not Sendable. deinit releases the reader.
    private let raw: OpaquePointer

    /// Creates a reader. Throws ``NetError/Code/badResponse`` if the type is not multipart or has no boundary.
    init(contentType: String, maxParts: UInt64, limits: PartLimits) throws(NetError) {
        var created: OpaquePointer?
        var error = nc_error()
        var options = nc_parts_options(
            max_parts: maxParts, max_part_bytes: UInt64(clamping: limits.maxPartBytes),
            max_head_bytes: max(0, limits.maxHeadBytes))
        let status = unsafe contentType.withSlice { unsafe nc_parts_new(&created, $0, &options, &error) }
        guard status == .NC_OK, let created = unsafe created else { throw NetError(error) }
        unsafe raw = created
    }

    deinit {
        unsafe nc_parts_free(raw)
    }

    /// Returns the next event of `chunk` at or after `offset`, and moves `offset` to the byte after it. Returns `nil`
    /// at the end of the chunk. Bytes of the part's content are appended to `content`; if it is `nil`, they are
    /// dropped.
    func next(
        in chunk: Bytes, from offset: inout Int, into content: inout [UInt8]?
    ) throws(NetError) -> Step? {
        var error = nc_error()
        var event = unsafe nc_parts_event()
        let status = unsafe chunk.withSlice { whole in
            var status = nc_status.NC_OK
            var remaining = unsafe nc_slice(data: whole.data.map { unsafe $0 + offset }, length: whole.length - offset)
            repeat {
                status = unsafe nc_parts_next(raw, &remaining, &event, &error)
                if status == .NC_OK, unsafe event.kind == .NC_PARTS_CONTENT {
                    unsafe content?.append(
                        contentsOf: UnsafeBufferPointer(start: event.bytes.data, count: event.bytes.length))
                }
            } while unsafe status == .NC_OK && event.kind == .NC_PARTS_CONTENT
            offset = unsafe whole.length - remaining.length
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

    /// Ends the body. Throws ``NetError/Code/cutShort`` if its last boundary has not arrived.
    func finish() throws(NetError) {
        var error = nc_error()
        guard unsafe nc_parts_finish(raw, &error) == .NC_OK else { throw NetError(error) }
    }
}

extension Decoding where Value == [ResponsePart] {
    /// Decodes a whole multipart body. To read parts while they arrive, use ``Agent/parts(_:limits:deciding:)``.
    public static var parts: Decoding { parts(limits: PartLimits()) }

    /// Decodes a whole multipart body within these limits.
    public static func parts(limits: PartLimits) -> Decoding {
        Decoding(types: MediaTypes.multipart) { response in
            let type = response.headers["Content-Type"] ?? ""
            let reader = try PartsReader(contentType: type, maxParts: limits.maxParts(of: type), limits: limits)
            var assembly = PartAssembly()
            var parts: [ResponsePart] = []
            var offset = 0
            while let event = try reader.next(in: response.bytes, from: &offset, into: &assembly.content) {
                if case .head(let headers) = event {
                    _ = assembly.begin(headers)
                    assembly.content = []
                } else if let part = assembly.end(event) {
                    parts.append(part)
                }
            }
            try reader.finish()
            return parts
        }
    }
}

/// Collects the content of the current part of a multipart body.
struct PartAssembly {
    /// The content so far; `nil` if the part is skipped.
    var content: [UInt8]?
    private var head = PartHead(index: -1, headers: [:])

    mutating func begin(_ headers: Headers) -> PartHead {
        head = PartHead(index: head.index + 1, headers: headers)
        content = nil
        return head
    }

    /// Returns the complete part if this event is the end of a part that is not skipped.
    mutating func end(_ event: PartsReader.Step) -> ResponsePart? {
        guard case .partEnd = event, let whole = content else { return nil }
        content = nil
        return ResponsePart(index: head.index, headers: head.headers, bytes: Bytes(whole))
    }
}
