/// A form of several parts (`multipart/form-data`; RFC 7578): fields, bytes, files and sequences, in order.
///
///     var form = MultipartBody()
///     form.append("Lisbon", name: "city")
///     form.append(.file("/tmp/me.jpg"), name: "photo")
///     let request = Request<Void>("cities", method: .post, body: try .multipart(form))
///
/// The same form gives the same bytes on every machine; its length is known before the first byte where every part's is.
/// Files and sequences are read while they are sent. Names and file names are escaped as WHATWG says (`"`, CR and LF
/// alone), and nothing is normalized.
public struct MultipartBody: Sendable {
    /// A pace for the whole form: after each packet the transfer rests, without a thread that sleeps.
    public struct Throttle: Sendable, Hashable {
        /// Bytes that go at once.
        public var packetBytes: Int
        /// How long the transfer rests after them, to the millisecond.
        public var delay: Duration

        /// A pace.
        public init(packetBytes: Int, delay: Duration) {
            self.packetBytes = packetBytes
            self.delay = delay
        }

        /// AFNetworking's advice for a 3G network: 16 KiB, then a fifth of a second.
        public static let suggestedFor3G = Throttle(packetBytes: 16384, delay: .milliseconds(200))
    }

    /// What a form is made of.
    enum Part: Sendable {
        case field(name: String, value: Bytes)
        case parameters(Parameters, QueryEncoding)
        case content(Body, name: String, fileName: String?, headers: Headers)
        case bare(Headers, Bytes)
    }

    var parts: [Part] = []
    /// The boundary: 1 to 70 of the bytes that RFC 2046 allows, and none that occurs in a part; nil is a random one,
    /// which nobody can guess.
    public var boundary: String?
    /// How fast the form is sent; nil is as fast as it goes. An engine heeds it; other transports need not.
    public var throttle: Throttle?
    /// Whether the system's list is asked for the types of extensions that the library does not know: the bytes then
    /// depend on the machine.
    public var asksSystemTypes = false

    /// A form without parts; sent like that, it is an empty `application/x-www-form-urlencoded` body.
    public init(boundary: String? = nil) {
        self.boundary = boundary
    }

    /// Whether there are no parts.
    public var isEmpty: Bool { parts.isEmpty }

    /// Adds a field.
    public mutating func append(_ value: String, name: String) {
        parts.append(.field(name: name, value: Bytes(Array(value.utf8))))
    }

    /// Adds a field of any bytes.
    public mutating func append(_ value: Bytes, name: String) {
        parts.append(.field(name: name, value: value))
    }

    /// Adds a field for each value, named as in a query but not escaped; null is empty, bytes are raw. Of the encoding
    /// names and booleans count.
    public mutating func append(_ parameters: Parameters, encoding: QueryEncoding = QueryEncoding()) {
        parts.append(.parameters(parameters, encoding))
    }

    /// Adds a part whose content is a body of any kind: bytes, a file, a sequence. Its type is the body's, and so is its
    /// Content-Encoding, unless `headers` name one.
    ///
    ///     form.append(.file("/tmp/a.csv", contentType: "text/csv"), name: "table", fileName: "b.csv")
    ///     form.append(.stream(length: 1024) { pieces }, name: "blob")
    ///
    /// - Parameters:
    ///   - content: the part's content.
    ///   - name: the field's name.
    ///   - fileName: nil is none, or of a file the last component of its path. A part with a file name and no type has
    ///     the one of its extension, else `application/octet-stream`.
    ///   - headers: more fields, in this order behind the others; neither Content-Disposition nor Content-Type.
    public mutating func append(_ content: Body, name: String, fileName: String? = nil, headers: Headers = [:]) {
        var headers = headers
        if let coding = content.contentEncoding, headers["Content-Encoding"] == nil {
            headers["Content-Encoding"] = coding
        }
        parts.append(.content(content, name: name, fileName: fileName, headers: headers))
    }

    /// Adds a part with these fields alone: without Content-Disposition and Content-Type of the library's.
    public mutating func append(headers: Headers, bytes: Bytes) {
        parts.append(.bare(headers, bytes))
    }

    /// The same form with these fields before the others.
    func beginning(with parameters: Parameters, encoding: QueryEncoding) -> MultipartBody {
        var form = self
        form.parts.insert(.parameters(parameters, encoding), at: 0)
        return form
    }

    /// The contents that are made while they are sent, in order.
    var sources: [BodySource] {
        parts.compactMap { part in
            guard case .content(let body, _, _, _) = part, case .source(let source) = body.content else { return nil }
            return source
        }
    }

    /// Whether a field, or a part with content, has a name that is looked for.
    func holdsField(_ isWanted: (String) -> Bool) -> Bool {
        parts.contains { part in
            switch part {
            case .field(let name, _), .content(_, let name, _, _): isWanted(name)
            case .parameters(let parameters, _): parameters.holdsField(isWanted)
            case .bare: false
            }
        }
    }

    /// Whether reading it may take long.
    var isStreamed: Bool {
        parts.contains { part in
            if case .content(let body, _, _, _) = part { body.isStreamed } else { false }
        }
    }
}
