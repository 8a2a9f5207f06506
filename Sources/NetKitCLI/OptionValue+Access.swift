import NetKit

/// A name and a password from an option.
struct Login: Sendable {
    var user: String
    /// The password, or `nil` if the option contains none.
    var password: String?
}

/// The value of -x: the URL of a proxy without its name and password, or no proxy.
struct ProxyAddress: Sendable {
    var url: String?
    var login: Login?

    /// Returns the proxy.
    ///
    /// - Parameter other: a name and a password that take precedence over those of the URL.
    func proxy(
        _ other: Login? = nil, bypass hosts: [String] = [], headers: [Headers.Field] = [], usesTunnel: Bool = false
    ) -> Proxy {
        guard let url else { return .direct }
        let login = other ?? login
        return Proxy(
            url, credentials: login.map { .basic(user: $0.user, password: $0.password ?? "") }, bypass: hosts,
            headers: Headers(headers), usesTunnel: usesTunnel)
    }
}

extension OptionValue {
    /// Parses NAME:PASSWORD, which the first colon separates.
    static func login(_ text: String) -> Login {
        guard let (user, _, password) = text.cut(atFirst: ":") else { return Login(user: text) }
        return Login(user: user, password: password)
    }

    /// Parses NAME:PASSWORD. If it is empty, throws an error that names the option.
    static func login(_ text: String, of option: String) throws(UsageError) -> Login {
        if text.isEmpty {
            throw UsageError("\(option) is empty: use NAME:PASSWORD")
        }
        return login(text)
    }

    /// Parses a token. An empty token is an error, because the request would be sent without credentials.
    static func token(_ text: String) throws(UsageError) -> String {
        if text.isEmpty {
            throw UsageError("--oauth2-bearer needs a token")
        }
        return text
    }

    /// Parses [SCHEME://][NAME:PASSWORD@]HOST[:PORT]. An empty value means no proxy.
    static func proxy(_ text: String, scheme: String = "http://") throws(UsageError) -> ProxyAddress {
        if text.isEmpty {
            return ProxyAddress()
        }
        let url = URLText(text)
        let schemes = ["", "http", "https", "socks4", "socks4a", "socks5", "socks5h"]
        // The error messages do not contain the text, because it may contain a password.
        if url.hostAndPort.isEmpty || url.hostAndPort.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7f }) {
            throw UsageError("invalid proxy: use [SCHEME://]HOST[:PORT]", exitCode: ExitCode.badProxy)
        }
        if !schemes.contains(url.scheme.lowercased().prefix { $0 != ":" }.description) {
            throw UsageError(
                "unsupported proxy scheme: use http, https, socks4, socks4a, socks5 or socks5h",
                exitCode: ExitCode.badProxyScheme)
        }
        let login = url.login.map { text in
            let credentials = self.login(text)
            return Login(user: Percent.decoded(credentials.user), password: Percent.decoded(credentials.password ?? ""))
        }
        return ProxyAddress(url: (url.scheme.isEmpty ? scheme : url.scheme) + url.hostAndPort, login: login)
    }

    /// Parses a field for the proxy, or "@FILE" for a file with one field per line. Unlike with -H, a field cannot be
    /// removed.
    static func proxyHeaders(_ text: String, number: Int) throws(UsageError) -> Arguments.HeaderArgument {
        let choice = try headers(text, of: "--proxy-header", number: number)
        if case .change(.remove(let name)) = choice {
            throw UsageError("--proxy-header '\(name)' has no value")
        }
        return choice
    }

    /// Parses a service class: a name such as "ef" or "af21", or a number from 1 to 63. Returns `nil` for 0 and
    /// "default", which mean no class.
    static func serviceClass(_ text: String) throws(UsageError) -> ServiceClass? {
        if text == "0" || text.lowercased() == "default" || text.lowercased() == "cs0" {
            return nil
        }
        guard let serviceClass = ServiceClass(name: text) else {
            throw UsageError(
                "invalid --dscp '\(text)': use 0 to 63, ef, le, cs1 to cs7 or af11 to af43")
        }
        return serviceClass
    }

    /// Parses a comma-separated list of hosts.
    static func list(_ text: String) -> [String] {
        text.split { $0 == "," || $0 == " " }.map(String.init)
    }

    /// Parses FILE[:PASSWORD]. A colon in the file name is written as "\:".
    static func certificate(_ text: String) -> (path: String, password: String?) {
        var path = ""
        var remaining = text[...]
        while let character = remaining.popFirst() {
            if character == "\\", remaining.first == ":" || remaining.first == "\\" {
                path.append(remaining.removeFirst())
            } else if character == ":" {
                return (path, String(remaining))
            } else {
                path.append(character)
            }
        }
        return (path, nil)
    }
}

/// Percent-encoding (RFC 3986, 2.1).
enum Percent {
    static func decoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        var remaining = Array(text.utf8)[...]
        while let byte = remaining.popFirst() {
            let digits = String(decoding: remaining.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), digits.utf8.count == 2, !digits.hasPrefix("+"),
                let value = UInt8(digits, radix: 16)
            {
                bytes.append(value)
                remaining = remaining.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the text percent-encoded, except letters, digits and "-._~".
    static func encoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            let character = Character(UnicodeScalar(byte))
            if byte < 0x80 && (character.isLetter || character.isNumber || "-._~".contains(character)) {
                encoded.append(character)
            } else {
                encoded += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }
}
