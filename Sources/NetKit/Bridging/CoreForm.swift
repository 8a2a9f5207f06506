internal import CNetCore

/// A form in the core's memory; immutable once a reader uses it.
@safe final class CoreForm: Sendable {
    // SAFETY: include/netcore/multipart.h: parts are added only in init. Then the form is only read, which any thread
    // may do, and deinit releases this reference. Readers have their own.
    nonisolated(unsafe) let raw: OpaquePointer
    /// - Parameter sources: one for each part that is produced while it is sent, in order.
    init(_ form: MultipartBody, sources: [nc_body_source], lengths: [UInt64]) throws(NetError) {
        var error = nc_error()
        var made: OpaquePointer?
        var status = unsafe (form.boundary ?? "").withSlice { boundary in
            var options = unsafe nc_multipart_options()
            unsafe options.boundary = boundary
            unsafe options.max_bytes = Int.max
            unsafe options.asks_system_types = form.asksSystemTypes
            if let throttle = form.throttle {
                unsafe options.packet_bytes = UInt32(clamping: throttle.packetBytes)
                unsafe options.delay_ms = throttle.delay.clampedMilliseconds
            }
            return unsafe nc_multipart_new(&made, &options, &error)
        }
        guard status == .NC_OK, let made = unsafe made else { throw NetError(error) }
        var builder = unsafe Builder(raw: made, sources: sources, lengths: lengths)
        for part in form.parts where status == .NC_OK {
            status = unsafe builder.add(part, &error)
        }
        unsafe raw = made
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

/// Adds parts, one call each; all text is borrowed for that call.
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
        case .content(let body, let name, let fileName, let headers):
            var part = unsafe nc_part()
            return unsafe TextSpace.with(bytes: textBytes(body, name, fileName, headers)) { text in
                unsafe part.name = text.put(name)
                // A name without memory means no name to the core.
                unsafe part.file_name = fileName == "" ? nc_slice_of("") : text.put(fileName)
                unsafe part.type = text.put(body.contentType)
                return unsafe add(&part, headers, in: &text, body, &error)
            }
        case .bare(let headers, let bytes):
            var part = unsafe nc_part()
            unsafe part.is_bare = true
            return unsafe TextSpace.with(bytes: headers.list.textBytes) { text in
                unsafe add(&part, headers, in: &text, Body(bytes), &error)
            }
        }
    }

    private func textBytes(_ body: Body, _ name: String, _ fileName: String?, _ headers: Headers) -> Int {
        var bytes = name.utf8.count + (fileName?.utf8.count ?? 0) + (body.contentType?.utf8.count ?? 0)
        if case .file(let path) = body.content {
            bytes += path.utf8.count
        }
        return bytes + headers.list.textBytes
    }

    private mutating func add(
        _ part: inout nc_part, _ headers: Headers, in text: inout TextSpace, _ body: Body, _ error: inout nc_error
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
            case .file(let path):
                unsafe part.path = path.isEmpty ? nc_slice_of("") : text.put(path)
            case .source:
                unsafe part.source = sources[sourceCount]
                unsafe part.source_length = lengths[sourceCount]
                unsafe sourceCount += 1
            case .multipart:
                error = NetError.nestedForm
                return .NC_ERR_BAD_PART
            }
            return unsafe nc_multipart_add(raw, &part, &error)
        }
    }
}

extension NetError {
    /// An error that the core has no message for.
    fileprivate static var nestedForm: nc_error {
        var error = nc_error()
        error.status = .NC_ERR_BAD_PART
        error.offset = -1
        unsafe withUnsafeMutableBytes(of: &error.message) { message in
            unsafe message.copyBytes(from: "a form cannot be a part of a form".utf8)
        }
        return error
    }
}

extension Duration {
    fileprivate var clampedMilliseconds: UInt32 {
        UInt32(clamping: attoseconds / 1_000_000_000_000_000)
    }
}
