/// The content of a request.
public struct Body: Sendable {
    /// The source of the bytes.
    enum Content: Sendable {
        case bytes(Bytes)
        case file(String)
        case source(BodySource)
        case multipart(any KeptForm)
    }

    var content: Content
    /// The Content-Type to send if the request has none.
    public var contentType: String?
    /// The Content-Encoding to send if the request has none, such as "gzip".
    public var contentEncoding: String?

    init(_ content: Content, contentType: String?) {
        self.content = content
        self.contentType = contentType
    }

    /// Creates a body from bytes and their type.
    public init(_ bytes: Bytes, contentType: String? = nil) {
        self.init(.bytes(bytes), contentType: contentType)
    }

    /// The bytes; empty for a body that is read while it is sent.
    public var bytes: Bytes {
        get {
            guard case .bytes(let bytes) = content else { return [] }
            return bytes
        }
        set { content = .bytes(newValue) }
    }

    /// The bytes if they are the whole body as sent; `nil` for a body that is put together or read while it is sent.
    var wholeBytes: Bytes? {
        if case .bytes(let bytes) = content { bytes } else { nil }
    }

    /// Whether there may be a byte to send.
    var hasContent: Bool { wholeBytes?.isEmpty != true }

    /// Returns text as a UTF-8 body.
    public static func text(_ text: String, contentType: String = "text/plain; charset=utf-8") -> Body {
        Body(Bytes(Array(text.utf8)), contentType: contentType)
    }

    /// Returns the content of a regular file, read while it is sent. If its length changes meanwhile, the request ends
    /// with ``NetError/Code/bodyLength``.
    public static func file(_ path: String, contentType: String? = nil) -> Body {
        Body(.file(path), contentType: contentType)
    }

    /// Whether it is read while it is sent, which may take long.
    var isStreamed: Bool {
        switch content {
        case .bytes: false
        case .file, .source: true
        case .multipart(let kept): kept.form.isStreamed
        }
    }

    /// Whether it can be sent a second time, as a redirect may require.
    public var isRepeatable: Bool {
        switch content {
        case .bytes, .file: true
        case .source(let source): source.isRepeatable
        case .multipart(let kept): kept.form.sources.allSatisfy { $0.isRepeatable }
        }
    }

    /// The multipart form; `nil` for another body.
    var multipartForm: MultipartBody? {
        if case .multipart(let kept) = content { kept.form } else { nil }
    }
}
