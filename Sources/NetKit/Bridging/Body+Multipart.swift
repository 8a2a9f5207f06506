internal import CNetCore

extension Body {
    /// Returns a body with a multipart form. Its Content-Type contains the boundary and overrides that of the request.
    ///
    /// A request with a form can have any method except GET and HEAD, which fail with ``NetError/Code/usage``. If the
    /// length of a file changes while it is sent, the request fails with ``NetError/Code/bodyLength``.
    /// - Throws:
    ///   - ``NetError/Code/badPart`` for a content type, a field or a boundary that cannot be sent; ``NetError/offset``
    ///     is the position of the invalid byte
    ///   - ``NetError/Code/badParameter`` for parameters that cannot be encoded
    ///   - ``NetError/Code/file`` for a file that cannot be read
    public static func multipart(_ form: MultipartBody) throws(NetError) -> Body {
        let checked = try CheckedForm(form)
        return Body(.multipart(checked), contentType: checked.contentType)
    }
}

extension Body {
    /// Returns the length of a multipart form in bytes, with the current lengths of its files. Returns `nil` if the
    /// length of a part is unknown, or if the body is not a form.
    ///
    /// - Throws: ``NetError/Code/file`` for a file that cannot be read.
    package func measureForm() throws(NetError) -> Int? {
        try checkedForm?.measuredLength()
    }
}

extension MultipartBody {
    /// Writes the whole form to a file. The file appears when it is complete and synced, and replaces an existing file.
    ///
    /// - Returns: the form's Content-Type, for the request that sends the file.
    /// - Throws: the errors of ``Body/multipart(_:)`` and of the bodies of the parts, and ``NetError/Code/file`` with the
    ///   errno in ``NetError/nativeCode``. The errno is ESPIPE if the path is a device, a pipe or a socket.
    @discardableResult
    public func write(toFile path: some URLConvertible) async throws(NetError) -> String {
        let path = path.filePath
        let body = try Body.multipart(self)
        try await withTaskExecutorPreference(DiskExecutor()) { () async throws(NetError) in
            try await Self.write(body, toFile: path)
        }
        return body.contentType ?? ""
    }

    @concurrent
    private static func write(_ body: Body, toFile path: String) async throws(NetError) {
        let file = try WholeFile(path)
        try await body.forEachPiece { piece throws(NetError) in try file.write(piece) }
        try file.keep()
    }
}

/// A validated multipart form, with the corresponding form of the C core.
final class CheckedForm: FormStorage {
    let form: MultipartBody
    /// The form of the C core, for reading outside a transfer. It has a placeholder for each part with a producer: the
    /// reader stops there, and the caller produces the part; see ``FormReader``.
    private let core: CoreForm
    let contentType: String

    init(_ form: MultipartBody) throws(NetError) {
        var form = form
        let sources = form.sources
        for case .parameters(let parameters, _) in form.parts {
            try parameters.checkEncodable()
        }
        core = try unsafe CoreForm(
            form, sources: FormReader.placeholders(sources.count),
            lengths: Array(repeating: .max, count: sources.count))
        contentType = core.contentType
        hasSources = !sources.isEmpty
        // The Content-Type of the request and the core's form of each transfer must have the same boundary.
        form.boundary = core.boundary
        self.form = form
    }

    /// Whether there are parts with producers.
    let hasSources: Bool

    /// Returns the core's form for one transfer. `feed` has the sources of the parts with producers.
    func coreForm(feed: BodyFeed?) throws(NetError) -> CoreForm {
        guard hasSources, let feed else { return core }
        return try unsafe coreForm(sources: feed.partSources)
    }

    /// Returns the form's length, or `nil` if a part's length is unknown. Reads the current sizes of the files.
    func measuredLength() throws(NetError) -> Int? {
        let sources = form.sources
        if sources.contains(where: { $0.length == nil }) {
            return nil
        }
        return try FormReader(try unsafe coreForm(sources: FormReader.placeholders(sources.count))).length
    }

    private func coreForm(sources: [nc_body_source]) throws(NetError) -> CoreForm {
        let lengths = form.sources.map { $0.length.map { UInt64(max(0, $0)) } ?? .max }
        return try unsafe CoreForm(form, sources: sources, lengths: lengths)
    }

    /// Passes the bytes of the form to `take`, piece by piece. Producers of parts run in the caller's task.
    func forEachPiece(_ take: (Bytes) async throws(NetError) -> Void) async throws(NetError) {
        let reader = try FormReader(core)
        let sources = form.sources
        while true {
            switch try reader.next() {
            case .piece(let bytes):
                try await take(bytes)
            case .source(let number):
                try await sources[number].forEachPiece(take)
                reader.skipPlaceholder()
            case .end:
                return
            }
        }
    }
}

extension Body {
    /// The multipart form, or `nil` if the body is not a form.
    var checkedForm: CheckedForm? {
        if case .multipart(let formStorage) = content { formStorage as? CheckedForm } else { nil }
    }

    /// Returns the core's form for one transfer, or `nil` if the body is not a form.
    func coreForm(feed: BodyFeed?) throws(NetError) -> CoreForm? {
        try checkedForm?.coreForm(feed: feed)
    }
}

extension Body {
    /// Returns a JSON body with parameters. Numbers keep all their digits, and members their order. A set becomes a
    /// sorted array.
    ///
    /// The ``JSONCoding`` of the request determines the form of dates, and the layout if `style` is `nil`.
    /// - Throws: ``NetError/Code/badParameter`` with the path ("a.b[2]") of a value that JSON cannot express: bytes, a
    ///   number that is not finite, or text that is not Unicode. ``NetError/Code/encoding`` for a value that could not
    ///   be encoded.
    public static func json(_ parameters: Parameters, style: JSONStyle? = nil) throws(NetError) -> Body {
        try Body(json: parameters, style: style)
    }

    /// Returns a JSON body with the values of a dictionary literal with variables, in the literal's order.
    public static func json(_ list: ParameterList, style: JSONStyle? = nil) throws(NetError) -> Body {
        try Body(jsonValue: Parameters(list), style: style)
    }

    /// Returns a JSON body with a dictionary of encodable values of several types. Its members are sorted.
    @_disfavoredOverload
    public static func json(_ values: [String: any Encodable & Sendable], style: JSONStyle? = nil) throws(NetError)
        -> Body
    {
        try Body(jsonValue: Parameters(values), style: style)
    }

    /// Returns a body with text in a charset. The charset is added to the content type.
    ///
    /// - Parameters:
    ///   - text: any text.
    ///   - charset: an IANA name, case-insensitive, such as "gb18030", "Shift_JIS" or "windows-1252".
    ///   - type: the media type.
    /// - Throws: ``NetError/Code/badCharset`` for an unknown charset, or with the position of a character that the
    ///   charset does not contain.
    public static func text(_ text: String, charset: String, type: String = "text/plain") throws(NetError) -> Body {
        // No charset needs more than eight bytes for one byte of UTF-8. The additional bytes are for shift sequences
        // and a byte order mark.
        var buffer = unsafe nc_buf_init(text.utf8.count * 8 + 64)
        defer { unsafe nc_buf_deinit(&buffer) }
        var error = nc_error()
        let status = unsafe text.withSlice { text in
            unsafe charset.withSlice { unsafe nc_charset_from_utf8(&buffer, text, $0, &error) }
        }
        if status != .NC_OK {
            throw NetError(error)
        }
        return Body(unsafe Bytes(copying: buffer), contentType: "\(type); charset=\(charset)")
    }
}

extension Parameters {
    /// Returns the value as JSON text, even if it is neither an object nor an array.
    func jsonText(style: JSONStyle) throws(NetError) -> Bytes {
        try checkEncodable()
        return try withSortedSets.writtenJSON(style: style)
    }

    private func writtenJSON(style: JSONStyle) throws(NetError) -> Bytes {
        var options = nc_json_style(
            is_sorted: style.isSorted, is_pretty: style.isPretty, keeps_slashes: style.keepsSlashes)
        switch self {
        case .object, .array, .set: break
        default:
            // The core requires a container, so the value is written as the only element of an array, and the brackets
            // are removed.
            options.is_pretty = false
            let array = try written(&options)
            return Bytes(Array(array.dropFirst().dropLast()))
        }
        return try written(&options)
    }

    private func written(_ options: inout nc_json_style) throws(NetError) -> Bytes {
        try unsafe written { text, tree, error in unsafe nc_json_write(&text, tree, &options, &error) }
    }

    fileprivate func written(
        _ write: (inout nc_buf, UnsafePointer<nc_params>, inout nc_error) -> nc_status
    ) throws(NetError) -> Bytes {
        var buffer = unsafe nc_buf_init(Int(Int32.max))
        defer { unsafe nc_buf_deinit(&buffer) }
        var error = nc_error()
        let status = unsafe withTree(maxBytes: Int(Int32.max)) { unsafe write(&buffer, $0, &error) }
        if status != .NC_OK {
            throw NetError(error)
        }
        return unsafe Bytes(copying: buffer)
    }
}
