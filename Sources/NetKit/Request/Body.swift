/// The content of a request.
public struct Body: Sendable {
    /// The source of the bytes.
    enum Content: Sendable {
        case bytes(Bytes)
        case file(String)
        case source(BodySource)
        case multipart(any FormStorage)
    }

    var content: Content
    /// The Content-Type to send if the request has none.
    public var contentType: String?
    /// The Content-Encoding to send if the request has none, such as "gzip".
    public var contentEncoding: String?
    /// The offset of the first byte of a file to send.
    package internal(set) var fileOffset = 0
    /// The values of a JSON body that was not changed; `nil` for other bodies.
    var jsonSource: JSONSource?

    init(_ content: Content, contentType: String?) {
        self.content = content
        self.contentType = contentType
    }

    /// Creates a body from ``Bytes``, `Data` or `[UInt8]`, and their type.
    public init(_ bytes: some BytesConvertible, contentType: String? = nil) {
        self.init(.bytes(bytes._bytes), contentType: contentType)
    }

    /// Returns a body of ``Bytes``, `Data` or `[UInt8]`.
    public static func data(_ bytes: some BytesConvertible, contentType: String? = nil) -> Body {
        Body(bytes, contentType: contentType)
    }

    /// The bytes; empty for a body that is read while it is sent.
    public var bytes: Bytes {
        get {
            guard case .bytes(let bytes) = content else { return [] }
            return bytes
        }
        set {
            content = .bytes(newValue)
            fileOffset = 0
            jsonSource = nil
        }
    }

    /// The whole body as it is sent, if it is in memory. `nil` for a multipart form, and for a body that is read while
    /// it is sent.
    public var wholeBytes: Bytes? {
        if case .bytes(let bytes) = content { bytes } else { nil }
    }

    /// Whether the body may have content. False only for a body in memory without bytes.
    var hasContent: Bool { wholeBytes?.isEmpty != true }

    /// Returns text as a UTF-8 body.
    public static func text(_ text: String, contentType: String = "text/plain; charset=utf-8") -> Body {
        Body(Bytes(Array(text.utf8)), contentType: contentType)
    }

    /// Returns a body with the content of a regular file, which is read while it is sent. If the length of the file
    /// changes meanwhile, the request fails with ``NetError/Code/bodyLength``.
    public static func file(_ path: some URLConvertible, contentType: String? = nil) -> Body {
        Body(.file(path.filePath), contentType: contentType)
    }

    /// Returns the body without its first bytes, for example to continue an interrupted upload.
    ///
    ///     var rest = Request<Void>("uploads/7", method: .patch, headers: ["Upload-Offset": "\(received)"])
    ///     rest.body = try Body.file(path).suffix(from: received)
    ///
    /// A file is read from there on. A source starts there if its function takes an offset; otherwise it starts at its
    /// first byte, and the bytes before `offset` are dropped. If the body turns out to be shorter, the request fails.
    ///
    /// - Throws: ``NetError/Code/usage`` if `offset` is negative or beyond the body's known length, or if the body is a
    ///   multipart form.
    public func suffix(from offset: Int) throws(NetError) -> Body {
        var rest = self
        switch content {
        case .bytes(let bytes) where (0...bytes.count).contains(offset):
            rest.bytes = Bytes(Array(bytes[offset...]))
        case .file where offset >= 0:
            rest.fileOffset = fileOffset.addingSaturated(offset)
        case .source(var source) where offset >= 0 && offset <= source.length ?? offset:
            source.offset = source.offset.addingSaturated(offset)
            source.length = source.length.map { $0 - offset }
            rest.content = .source(source)
        case .multipart:
            throw NetError(.usage, "a multipart form cannot begin at an offset")
        case .bytes, .file, .source:
            throw NetError(.usage, "the body cannot begin at byte \(offset)")
        }
        return rest
    }

    /// Whether the body is read while it is sent, which may take long.
    var isStreamed: Bool {
        switch content {
        case .bytes: false
        case .file, .source: true
        case .multipart(let formStorage): formStorage.form.isStreamed
        }
    }

    /// Whether the body can be sent more than once. A redirect, for example, may require that.
    public var isRepeatable: Bool {
        switch content {
        case .bytes, .file: true
        case .source(let source): source.isRepeatable
        case .multipart(let formStorage): formStorage.form.sources.allSatisfy { $0.isRepeatable }
        }
    }

    /// The path of the file, or `nil` if the body is not a file.
    package var filePath: String? {
        if case .file(let path) = content { path } else { nil }
    }

    /// The multipart form, or `nil` if the body is not a form.
    package var multipartForm: MultipartBody? {
        if case .multipart(let formStorage) = content { formStorage.form } else { nil }
    }
}
