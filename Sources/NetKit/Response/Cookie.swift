/// A cookie of an agent's jar (RFC 6265).
///
/// Name and value are bytes, and the jar sends them unchanged. ``name`` and ``value`` are views for display, with
/// U+FFFD for bytes that are not UTF-8; see ``nameBytes`` and ``valueBytes``.
public struct Cookie: Sendable, Hashable {
    private var ownName: ByteText
    private var ownValue: ByteText
    private var ownPath: ByteText
    /// Its host, without a dot at the start.
    public var domain: String
    /// Whether it is also sent to subdomains.
    public var includesSubdomains: Bool
    /// Its expiry in seconds since 1970. If `nil`, it ends with the jar.
    public var expires: Int?
    /// Whether it is sent over TLS only.
    public var isSecure: Bool
    /// Whether it is hidden from scripts in a browser.
    public var isHTTPOnly: Bool

    /// Creates a cookie.
    public init(
        name: String, value: String, domain: String, includesSubdomains: Bool = false, path: String = "/",
        expires: Int? = nil, isSecure: Bool = false, isHTTPOnly: Bool = false
    ) {
        ownName = ByteText(name)
        ownValue = ByteText(value)
        self.domain = domain
        self.includesSubdomains = includesSubdomains
        ownPath = ByteText(path)
        self.expires = expires
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
    }
}

extension Cookie {
    /// Its name.
    public var name: String {
        get { ownName.text }
        set { ownName = ByteText(newValue) }
    }

    /// Its value.
    public var value: String {
        get { ownValue.text }
        set { ownValue = ByteText(newValue) }
    }

    /// Its path.
    public var path: String {
        get { ownPath.text }
        set { ownPath = ByteText(newValue) }
    }

    /// The bytes of its name.
    public var nameBytes: Bytes {
        get { Bytes(ownName.bytes) }
        set { ownName = ByteText(bytes: Array(newValue)) }
    }

    /// The bytes of its value.
    public var valueBytes: Bytes {
        get { Bytes(ownValue.bytes) }
        set { ownValue = ByteText(bytes: Array(newValue)) }
    }

    /// Its texts as in a line, with one scalar for each byte.
    var texts: (name: String, value: String, path: String) {
        get { (ownName.byteScalars, ownValue.byteScalars, ownPath.byteScalars) }
        set {
            ownName = ByteText(byteScalars: newValue.name)
            ownValue = ByteText(byteScalars: newValue.value)
            ownPath = ByteText(byteScalars: newValue.path)
        }
    }
}
