internal import CNetCore

/// A multipart form in the C core's memory. It must not change after a reader has used it.
@safe final class CoreForm: Sendable {
    // SAFETY: include/netcore/multipart.h: parts are added only in init. After that the form is only read, which any
    // thread may do. deinit releases this reference; readers have references of their own.
    nonisolated(unsafe) let raw: OpaquePointer
    /// - Parameters:
    ///   - sources: the source of each part with a producer, in order.
    ///   - lengths: the length of each of these parts, or `UInt64.max` if it is unknown.
    init(_ form: MultipartBody, sources: [nc_body_source], lengths: [UInt64]) throws(NetError) {
        var error = nc_error()
        var created: OpaquePointer?
        var status = unsafe (form.boundary ?? "").withSlice { boundary in
            var options = unsafe nc_multipart_options()
            unsafe options.boundary = boundary
            unsafe options.max_bytes = Int.max
            unsafe options.uses_system_types = form.usesSystemTypes
            if let throttle = form.throttle {
                unsafe options.packet_bytes = UInt32(clamping: throttle.packetBytes)
                unsafe options.delay_ms = throttle.delay.clampedMilliseconds
            }
            return unsafe nc_multipart_new(&created, &options, &error)
        }
        guard status == .NC_OK, let created = unsafe created else { throw NetError(error) }
        var builder = unsafe Builder(raw: created, sources: sources, lengths: lengths)
        for part in form.parts where status == .NC_OK {
            status = unsafe builder.add(part, &error)
        }
        unsafe raw = created
        if status != .NC_OK {
            throw NetError(error)
        }
    }

    deinit {
        unsafe nc_multipart_release(raw)
    }

    var boundary: String { unsafe nc_multipart_boundary(raw).text }

    var contentType: String { unsafe nc_multipart_content_type(raw).text }
}

/// Adds parts to a form. Pointers to text and bytes are valid only during the call that adds the part; the core copies
/// them.
@unsafe private struct Builder {
    let raw: OpaquePointer
    let sources: [nc_body_source]
    let lengths: [UInt64]
    var sourceCount = 0

    mutating func add(_ part: MultipartBody.Part, _ error: inout nc_error) -> nc_status {
        switch part {
        case .field(let name, let value):
            return unsafe name.withSlice { name in
                unsafe value.withSlice { unsafe nc_multipart_add_field(raw, name, $0, &error) }
            }
        case .parameters(let parameters, let encoding):
            var options = unsafe encoding.coreOptions
            return unsafe parameters.withTree { unsafe nc_multipart_add_params(raw, $0, &options, &error) }
        case .content(let body, let name, let filename, let headers):
            var part = unsafe nc_part()
            return unsafe StringArena.with(bytes: textBytes(body, name, filename, headers)) { text in
                unsafe part.name = text.put(name)
                // A slice without memory means that there is no file name, so an empty name needs a slice with memory.
                unsafe part.file_name = filename == "" ? nc_slice_of("") : text.put(filename)
                unsafe part.type = text.put(body.contentType)
                return unsafe add(&part, headers, in: &text, body, &error)
            }
        case .bare(let headers, let bytes):
            var part = unsafe nc_part()
            unsafe part.is_bare = true
            return unsafe StringArena.with(bytes: headers.list.textBytes) { text in
                unsafe add(&part, headers, in: &text, Body(bytes), &error)
            }
        }
    }

    private func textBytes(_ body: Body, _ name: String, _ filename: String?, _ headers: Headers) -> Int {
        var bytes = name.utf8.count + (filename?.utf8.count ?? 0) + (body.contentType?.utf8.count ?? 0)
        if case .file(let path) = body.content {
            bytes += path.utf8.count
        }
        return bytes + headers.list.textBytes
    }

    private mutating func add(
        _ part: inout nc_part, _ headers: Headers, in text: inout StringArena, _ body: Body, _ error: inout nc_error
    ) -> nc_status {
        unsafe text.withFields(headers.list) { fields, text in
            unsafe part.headers = UnsafePointer(fields.baseAddress)
            unsafe part.header_count = fields.count
            switch body.content {
            case .bytes(let bytes):
                return unsafe bytes.withSlice { bytes in
                    unsafe part.bytes = bytes
                    return unsafe nc_multipart_add(raw, &part, &error)
                }
            case .file where body.fileOffset > 0:
                error = NetError.badPart("a part of a form cannot begin at an offset of a file")
                return .NC_ERR_BAD_PART
            case .file(let path):
                unsafe part.path = path.isEmpty ? nc_slice_of("") : text.put(path)
            case .source:
                unsafe part.source = sources[sourceCount]
                unsafe part.source_length = lengths[sourceCount]
                unsafe sourceCount += 1
            case .multipart:
                error = NetError.badPart("a form cannot be a part of a form")
                return .NC_ERR_BAD_PART
            }
            return unsafe nc_multipart_add(raw, &part, &error)
        }
    }
}

extension NetError {
    /// Returns the error for a part that a form cannot have, in the C core's type.
    fileprivate static func badPart(_ text: StaticString) -> nc_error {
        var error = nc_error()
        error.status = .NC_ERR_BAD_PART
        error.offset = -1
        unsafe withUnsafeMutableBytes(of: &error.message) { message in
            unsafe message.copyBytes(from: "\(text)".utf8)
        }
        return error
    }
}

extension Duration {
    fileprivate var clampedMilliseconds: UInt32 {
        UInt32(clamping: attoseconds / 1_000_000_000_000_000)
    }
}

/// Reads a form of the C core in which each part with a producer is a placeholder. When the reader reaches a
/// placeholder, the caller produces the part and calls ``skipPlaceholder()``.
@safe final class FormReader {
    enum Step {
        case piece(Bytes)
        /// The index of the source in the form.
        case source(Int)
        case end
    }

    private static let pieceBytes = 64 << 10

    /// Returns sources that stand for parts with producers. A placeholder reports "no bytes yet" until its part was
    /// produced, and then "end".
    ///
    /// The context of a placeholder is not an address but its number, from 1. The reader passes the count of produced
    /// parts where the core expects a transfer's number; see ``pullPlaceholder``.
    static func placeholders(_ count: Int) -> [nc_body_source] {
        unsafe (0..<count).map { number in
            let context = unsafe UnsafeMutableRawPointer(bitPattern: number + 1)
            return unsafe nc_body_source(ctx: context, pull: pullPlaceholder, seek: seekPlaceholder)
        }
    }

    // SAFETY: include/netcore/multipart.h: a reader is confined to one thread at a time. So is this class, because it
    // is not Sendable. deinit releases the reader.
    private let raw: OpaquePointer
    private let form: CoreForm
    private var producedCount: UInt64 = 0
    private var isOver = false

    init(_ form: CoreForm) throws(NetError) {
        var reader: OpaquePointer?
        var error = nc_error()
        let status = unsafe nc_multipart_reader_new(&reader, form.raw, &error)
        guard status == .NC_OK, let reader = unsafe reader else { throw NetError(error) }
        unsafe raw = reader
        self.form = form
    }

    deinit {
        unsafe nc_multipart_reader_free(raw)
    }

    /// The length of the form in bytes.
    var length: Int { Int(clamping: unsafe nc_multipart_reader_length(raw)) }

    /// Returns the next bytes, or the source whose placeholder is at the current position.
    func next() throws(NetError) -> Step {
        if isOver {
            return .end
        }
        var pulled = nc_pull.NC_PULL_MORE
        let piece = unsafe [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { buffer, filled in
            if let start = buffer.baseAddress {
                pulled = unsafe nc_multipart_read(raw, producedCount, start, buffer.count, &filled)
            }
        }
        switch pulled {
        case .NC_PULL_MORE, .NC_PULL_END:
            isOver = pulled == .NC_PULL_END
            return .piece(Bytes(piece))
        case .NC_PULL_LATER:
            return .source(Int(producedCount))
        default:
            var error = nc_error()
            _ = unsafe nc_multipart_reader_error(raw, &error)
            throw NetError(error)
        }
    }

    /// Continues after a placeholder whose part was produced.
    func skipPlaceholder() {
        producedCount += 1
    }
}

private func pullPlaceholder(
    _ context: UnsafeMutableRawPointer?, _ id: UInt64, _ bytes: UnsafeMutablePointer<UInt8>, _ capacity: Int,
    _ filled: UnsafeMutablePointer<Int>
) -> nc_pull {
    id >= UInt64(UInt(bitPattern: context)) ? .NC_PULL_END : .NC_PULL_LATER
}

private func seekPlaceholder(_ context: UnsafeMutableRawPointer?, _ id: UInt64, _ offset: UInt64) -> Bool { true }
