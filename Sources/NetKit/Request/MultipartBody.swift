/// A multipart form (`multipart/form-data`; RFC 7578): fields, bytes, files and sequences, in order.
///
///     var form = MultipartBody()
///     form.append("Lisbon", name: "city")
///     form.append(.file("/tmp/me.jpg"), name: "photo")
///     let request = Request<Void>("cities", method: .post, body: try .multipart(form))
///
/// The same form gives the same bytes on every machine. Its length is known before the first byte if every part's
/// length is. Files and sequences are read while they are sent. Names and file names are escaped as in WHATWG HTML
/// (only `"`, CR and LF) and are not normalized.
public struct MultipartBody: Sendable {
    /// A rate for the whole form: the transfer pauses after each packet, without blocking a thread.
    public struct Throttle: Sendable, Hashable {
        /// The bytes of one packet.
        public var packetBytes: Int
        /// The pause after each packet, in whole milliseconds.
        public var delay: Duration

        /// Creates a rate.
        public init(packetBytes: Int, delay: Duration) {
            self.packetBytes = packetBytes
            self.delay = delay
        }

        /// AFNetworking's suggestion for a 3G network: 16 KiB, then 0.2 s.
        public static let suggestedFor3G = Throttle(packetBytes: 16384, delay: .milliseconds(200))
    }

    /// A part of the form.
    enum Part: Sendable {
        case field(name: String, value: Bytes)
        case parameters(Parameters, QueryEncoding)
        case content(Body, name: String, fileName: String?, headers: Headers)
        case bare(Headers, Bytes)
    }

    var parts: [Part] = []
    /// The boundary: 1 to 70 of the bytes that RFC 2046 allows. It must not occur in a part. If `nil`, an unpredictable
    /// random one is used.
    public var boundary: String?
    /// The sending rate; `nil` is unlimited. The engine applies it; other transports may ignore it.
    public var throttle: Throttle?
    /// Whether unknown file extensions are looked up in the system's list of types. The bytes then depend on the
    /// machine.
    public var asksSystemTypes = false

    /// Creates a form without parts. Sent without parts, it is an empty `application/x-www-form-urlencoded` body.
    public init(boundary: String? = nil) {
        self.boundary = boundary
    }

    /// Whether there are no parts.
    public var isEmpty: Bool { parts.isEmpty }

    /// Adds a text field.
    public mutating func append(_ value: String, name: String) {
        parts.append(.field(name: name, value: Bytes(Array(value.utf8))))
    }

    /// Adds a field with any bytes.
    public mutating func append(_ value: Bytes, name: String) {
        parts.append(.field(name: name, value: value))
    }

    /// Adds a field for each value, named as in a query but not escaped. Null is empty, and bytes are sent unchanged.
    /// Of the encoding, only its rules for names and booleans apply.
    public mutating func append(_ parameters: Parameters, encoding: QueryEncoding = QueryEncoding()) {
        parts.append(.parameters(parameters, encoding))
    }

    /// Adds a part with any body as its content: bytes, a file, a sequence. Its type and its Content-Encoding are the
    /// body's, unless `headers` contains one.
    ///
    ///     form.append(.file("/tmp/a.csv", contentType: "text/csv"), name: "table", fileName: "b.csv")
    ///     form.append(.stream(length: 1024) { pieces }, name: "blob")
    ///
    /// - Parameters:
    ///   - content: the part's content.
    ///   - name: the field's name.
    ///   - fileName: the file name; `nil` is none, or for a file the last component of its path. A part with a file
    ///     name and no type gets the type of the extension, otherwise `application/octet-stream`.
    ///   - headers: further fields, in this order after the others; neither Content-Disposition nor Content-Type.
    public mutating func append(_ content: Body, name: String, fileName: String? = nil, headers: Headers = [:]) {
        var headers = headers
        if let coding = content.contentEncoding, headers["Content-Encoding"] == nil {
            headers["Content-Encoding"] = coding
        }
        parts.append(.content(content, name: name, fileName: fileName, headers: headers))
    }

    /// Adds a part with exactly these fields: the library adds neither Content-Disposition nor Content-Type.
    public mutating func append(headers: Headers, bytes: Bytes) {
        parts.append(.bare(headers, bytes))
    }

    /// Returns the same form with these fields before the others.
    func beginning(with parameters: Parameters, encoding: QueryEncoding) -> MultipartBody {
        var form = self
        form.parts.insert(.parameters(parameters, encoding), at: 0)
        return form
    }

    /// The contents that are produced while they are sent, in order.
    var sources: [BodySource] {
        parts.compactMap { part in
            guard case .content(let body, _, _, _) = part, case .source(let source) = body.content else { return nil }
            return source
        }
    }

    /// Returns true if a field, or a part with content, has a name that matches.
    func holdsField(_ isWanted: (String) -> Bool) -> Bool {
        parts.contains { part in
            switch part {
            case .field(let name, _), .content(_, let name, _, _): isWanted(name)
            case .parameters(let parameters, _): parameters.holdsField(isWanted)
            case .bare: false
            }
        }
    }

    /// Whether it is read while it is sent, which may take long.
    var isStreamed: Bool {
        parts.contains { part in
            if case .content(let body, _, _, _) = part { body.isStreamed } else { false }
        }
    }
}
