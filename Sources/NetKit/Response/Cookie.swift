#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A cookie of an agent's jar (RFC 6265).
/// The jar stores the name and the value as bytes and sends them unchanged. ``name`` and ``value`` are texts for
/// display, with U+FFFD for bytes that are not UTF-8. The exact bytes of the value are in ``valueBytes``.
public struct Cookie: Sendable, Hashable {
    private var nameText: ByteText
    private var valueText: ByteText
    private var pathText: ByteText
    /// The host that the cookie belongs to, without a leading dot.
    public var domain: String
    /// Whether the cookie is also sent to subdomains.
    public var includesSubdomains: Bool
    /// The expiry in seconds since 1970. A date cannot represent every number that a cookie file can contain.
    private var expirySeconds: Int?
    /// Whether the cookie is sent over TLS only.
    public var isSecure: Bool
    /// Whether a browser hides the cookie from scripts.
    public var isHTTPOnly: Bool

    /// Creates a cookie.
    public init(
        name: String, value: String, domain: String, includesSubdomains: Bool = false, path: String = "/",
        expires: Date? = nil, isSecure: Bool = false, isHTTPOnly: Bool = false
    ) {
        nameText = ByteText(name)
        valueText = ByteText(value)
        self.domain = domain
        self.includesSubdomains = includesSubdomains
        pathText = ByteText(path)
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.expires = expires
    }
}

extension Cookie {
    /// The name.
    public var name: String {
        get { nameText.text }
        set { nameText = ByteText(newValue) }
    }

    /// The value.
    public var value: String {
        get { valueText.text }
        set { valueText = ByteText(newValue) }
    }

    /// The path.
    public var path: String {
        get { pathText.text }
        set { pathText = ByteText(newValue) }
    }

    /// The expiry, in whole seconds. If `nil`, the cookie lasts as long as the jar.
    public var expires: Date? {
        get { expirySeconds.map { Date(timeIntervalSince1970: Double($0)) } }
        set { expirySeconds = newValue.map { Int(Int64(moment: $0.timeIntervalSince1970)) } }
    }

    /// The bytes of the value.
    public var valueBytes: Bytes {
        get { Bytes(valueText.bytes) }
        set { valueText = ByteText(bytes: Array(newValue)) }
    }

    /// Name, value and path, each as a string with one scalar for each byte; see ``ByteText/byteScalars``.
    var byteScalars: (name: String, value: String, path: String) {
        get { (nameText.byteScalars, valueText.byteScalars, pathText.byteScalars) }
        set {
            nameText = ByteText(byteScalars: newValue.name)
            valueText = ByteText(byteScalars: newValue.value)
            pathText = ByteText(byteScalars: newValue.path)
        }
    }

    private static let httpOnlyPrefix = "#HttpOnly_"

    /// Creates a cookie from a line of a cookie file in the Netscape format. The line consists of domain, tail match,
    /// path, secure, expiry, name and value, separated by tabs. Returns `nil` for an empty line, a comment and an
    /// invalid cookie.
    /// As in curl, leading white space is ignored, several tabs count as one, and the path and the value may be
    /// missing.
    package init?(netscapeLine line: some StringProtocol) {
        self.init(scalarLine: ByteText(String(line)).byteScalars)
    }

    /// Creates a cookie like ``init(netscapeLine:)``, from a line whose name, value and path need not be UTF-8.
    package init?(netscapeLineBytes line: Bytes) {
        self.init(scalarLine: ByteText(bytes: Array(line)).byteScalars)
    }

    /// Creates a cookie from a line that has one scalar for each byte.
    private init?(scalarLine line: String) {
        var rest = line.drop { $0 == " " || $0 == "\t" }
        let isHTTPOnly = rest.hasPrefix(Self.httpOnlyPrefix)
        if isHTTPOnly {
            rest = rest.dropFirst(Self.httpOnlyPrefix.count)
        }
        var parts = rest.split(separator: "\t", maxSplits: 6)
        if parts.count > 2, ["TRUE", "FALSE"].contains(parts[2]) {
            // The path is empty: libcurl then writes two tabs, which count as one.
            parts = rest.split(separator: "\t", maxSplits: 5)
            parts.insert("/", at: 2)
        }
        guard !rest.hasPrefix("#"), parts.count >= 6, let expires = Int(parts[4]) else { return nil }
        self.init(
            name: "", value: "", domain: ByteText(byteScalars: parts[0].drop { $0 == "." }).text,
            includesSubdomains: parts[1] == "TRUE", isSecure: parts[3] == "TRUE", isHTTPOnly: isHTTPOnly)
        expirySeconds = expires == 0 ? nil : expires
        byteScalars = (String(parts[5]), parts.count > 6 ? String(parts[6]) : "", String(parts[2]))
        guard (try? netscapeLine) != nil else { return nil }
    }

    /// Whether the cookie has the attributes that the prefix of its name (`__Host-` or `__Secure-`) requires.
    private var meetsPrefixRules: Bool {
        let name = name.asciiLowercased
        if name.hasPrefix("__host-") {
            return isSecure && !includesSubdomains && ["", "/"].contains(path)
        }
        return isSecure || !name.hasPrefix("__secure-")
    }

    /// The cookie as a line of a cookie file in the Netscape format.
    /// - Throws: ``NetError/Code/usage`` for an invalid cookie. A cookie is invalid if:
    ///   - it contains a control character or a semicolon, which a server would read as the start of another cookie
    ///   - it has no name, a name with "=", no domain, or a domain that begins with a space
    ///   - its name has a prefix that requires attributes which the cookie does not have (RFC 6265bis, 4.1.3)
    package var netscapeLine: String {
        get throws(NetError) { ByteText(byteScalars: try scalarLine).text }
    }

    /// The bytes of ``netscapeLine``, which need not be UTF-8. Throws the same errors.
    package var netscapeLineBytes: Bytes {
        get throws(NetError) { Bytes(ByteText(byteScalars: try scalarLine).bytes) }
    }

    private var scalarLine: String {
        get throws(NetError) {
            let (name, value, path) = byteScalars
            let domain = ByteText(domain).byteScalars
            let isPlain = [name, value, domain, path].allSatisfy { text in
                text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ";") }
            }
            guard isPlain, !name.isEmpty, !name.utf8.contains(UInt8(ascii: "=")),
                let first = domain.utf8.first, first != UInt8(ascii: " ")
            else {
                throw NetError(.usage, "a cookie has no name, no domain, or a character that a cookie file cannot hold")
            }
            guard meetsPrefixRules else {
                throw NetError(.usage, "the cookie does not meet the requirements of its name prefix: \(self.name)")
            }
            func flag(_ value: Bool) -> String { value ? "TRUE" : "FALSE" }
            // An expiry before 1970 is written as 1, because 0 means that the cookie lasts as long as the jar.
            let end = expirySeconds.map { String(max(1, $0)) } ?? "0"
            let domainField = (isHTTPOnly ? Self.httpOnlyPrefix : "") + (includesSubdomains ? "." : "") + domain
            return [domainField, flag(includesSubdomains), path.isEmpty ? "/" : path, flag(isSecure), end, name, value]
                .joined(separator: "\t")
        }
    }
}
