/// A multipart form (`multipart/form-data`; RFC 7578): fields, bytes, files and sequences, in order.
///
///     var form = MultipartBody()
///     form.append("Lisbon", name: "city")
///     form.append(.file("/tmp/me.jpg"), name: "photo")
///     let request = Request<Void>("cities", method: .post, body: try .multipart(form))
///
/// A form with a fixed ``boundary`` gives the same bytes on every machine. If the length of every part is known, the
/// length of the form is known too and is sent as `Content-Length`. Files and sequences are read while they are sent.
/// In names and file names only `"`, CR and LF are escaped, as in WHATWG HTML; nothing is normalized.
public struct MultipartBody: Sendable {
    /// A part of the form.
    enum Part: Sendable {
        case field(name: String, value: Bytes)
        case parameters(Parameters, QueryEncoding)
        case content(Body, name: String, filename: String?, headers: Headers)
        case bare(Headers, Bytes)
    }

    var parts: [Part] = []
    /// The boundary between the parts: 1 to 70 characters that RFC 2046 allows. It must not occur in a part. If `nil`,
    /// a random boundary is used.
    public var boundary: String?
    /// The sending rate: the bytes of one packet, and the pause after each packet in whole milliseconds. If `nil`, the
    /// rate is not limited. No thread is blocked during a pause. A transport other than the engine may ignore it.
    public var throttle: (packetBytes: Int, delay: Duration)?
    /// Whether file extensions that NetKit does not know are looked up in the system's list of media types. If so, the
    /// bytes of the form depend on the machine.
    public var usesSystemTypes = false

    /// Creates a form without parts. A form that has no parts when it is sent becomes an empty
    /// `application/x-www-form-urlencoded` body.
    public init(boundary: String? = nil) {
        self.boundary = boundary
    }

    /// Whether there are no parts.
    public var isEmpty: Bool { parts.isEmpty }

    /// Adds a text field.
    public mutating func append(_ value: String, name: String) {
        parts.append(.field(name: name, value: Bytes(Array(value.utf8))))
    }

    /// Adds a field with ``Bytes``, `Data` or `[UInt8]`. With a file name or a content type it is a file.
    ///
    ///     form.append(pixels, name: "photo", filename: "a.png", contentType: "image/png")
    public mutating func append(
        _ value: some BytesConvertible, name: String, filename: String? = nil, contentType: String? = nil
    ) {
        if filename == nil, contentType == nil {
            parts.append(.field(name: name, value: value._bytes))
        } else {
            append(.data(value, contentType: contentType), name: name, filename: filename)
        }
    }

    /// Adds a field for each value of the parameters.
    /// Names are formed by the rules of `encoding`, but without escapes. Null becomes an empty field, and bytes are
    /// sent unchanged. The other settings of `encoding`, except for booleans, have no effect.
    public mutating func append(_ parameters: Parameters, encoding: QueryEncoding = QueryEncoding()) {
        parts.append(.parameters(parameters, encoding))
    }

    /// Adds a field for each value of a dictionary literal with variables.
    public mutating func append(_ list: ParameterList, encoding: QueryEncoding = QueryEncoding()) {
        append(Parameters(list), encoding: encoding)
    }

    /// Adds a part whose content is a body, such as bytes, a file or a sequence. The part has the body's content type
    /// and Content-Encoding; a Content-Encoding in `headers` takes precedence.
    ///
    ///     form.append(.file("/tmp/a.csv"), name: "table", filename: "b.csv", contentType: "text/csv")
    ///     form.append(.stream(length: 1024) { pieces }, name: "blob")
    ///
    /// - Parameters:
    ///   - content: the part's content.
    ///   - name: the field's name.
    ///   - filename: the file name. If `nil`, a file has the last component of its path as its name, and other content
    ///     has none. If there is a file name but no content type, the type is derived from the extension, or is
    ///     `application/octet-stream`.
    ///   - contentType: the content type; `nil` for that of the body.
    ///   - headers: further fields of the part, which are sent in this order after the standard ones.
    ///     Content-Disposition and Content-Type are not allowed.
    public mutating func append(
        _ content: Body, name: String, filename: String? = nil, contentType: String? = nil, headers: Headers = [:]
    ) {
        var (content, headers) = (content, headers)
        content.contentType = contentType ?? content.contentType
        if let coding = content.contentEncoding, headers["Content-Encoding"] == nil {
            headers["Content-Encoding"] = coding
        }
        parts.append(.content(content, name: name, filename: filename, headers: headers))
    }

    /// Adds a part with exactly these fields: the library adds neither Content-Disposition nor Content-Type.
    public mutating func append(headers: Headers, bytes: Bytes) {
        parts.append(.bare(headers, bytes))
    }

    /// Returns the same form with these parameters as its first parts.
    func prepending(_ parameters: Parameters, encoding: QueryEncoding) -> MultipartBody {
        var form = self
        form.parts.insert(.parameters(parameters, encoding), at: 0)
        return form
    }

    /// The sources of the parts whose content is produced while it is sent, in order.
    var sources: [BodySource] {
        parts.compactMap { part in
            guard case .content(let body, _, _, _) = part, case .source(let source) = body.content else { return nil }
            return source
        }
    }

    /// Returns true if `isWanted` accepts the name of any part.
    package func holdsField(_ isWanted: (String) -> Bool) -> Bool {
        parts.contains { part in
            switch part {
            case .field(let name, _), .content(_, let name, _, _): isWanted(name)
            case .parameters(let parameters, _): parameters.holdsField(isWanted)
            case .bare: false
            }
        }
    }

    /// Whether the form is read while it is sent, which may take long.
    var isStreamed: Bool {
        parts.contains { part in
            if case .content(let body, _, _, _) = part { body.isStreamed } else { false }
        }
    }
}

/// A validated multipart form with the encoder state that is needed to send it.
protocol FormStorage: AnyObject, Sendable {
    /// The parts and the boundary.
    var form: MultipartBody { get }
}
