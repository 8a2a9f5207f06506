import NetKit

/// A name and a password from an option.
struct Login: Sendable {
    var user: String
    /// `nil` if it was not given.
    var password: String?
}

/// The value of -x: no proxy, or a proxy's URL without its name and password.
struct ProxyPlace: Sendable {
    var url: String?
    var login: Login?

    /// - Parameter other: takes precedence over the name and the password of the URL.
    func proxy(
        _ other: Login? = nil, except hosts: [String] = [], headers: [Headers.Field] = [], usesTunnel: Bool = false
    ) -> Proxy {
        guard let url else { return .direct }
        let login = other ?? login
        return Proxy(
            url, credentials: login.map { .basic(user: $0.user, password: $0.password ?? "") }, except: hosts,
            headers: Headers(headers), usesTunnel: usesTunnel)
    }
}

extension OptionValue {
    /// NAME:PASSWORD, separated by the first colon.
    static func login(_ text: String) -> Login {
        guard let (user, _, password) = text.cut(atFirst: ":") else { return Login(user: text) }
        return Login(user: user, password: password)
    }

    /// The same, with an error that names the option.
    static func login(_ text: String, of option: String) throws(UsageError) -> Login {
        if text.isEmpty {
            throw UsageError("\(option) '' has neither a name nor a password: it is NAME:PASSWORD")
        }
        return login(text)
    }

    /// An empty token is an error: the request would be sent without credentials.
    static func token(_ text: String) throws(UsageError) -> String {
        if text.isEmpty {
            throw UsageError("--oauth2-bearer '' is no token")
        }
        return text
    }

    /// [SCHEME://][NAME:PASSWORD@]HOST[:PORT]; an empty value is no proxy.
    static func proxy(_ text: String, scheme: String = "http://") throws(UsageError) -> ProxyPlace {
        if text.isEmpty {
            return ProxyPlace()
        }
        let written = WrittenURL(text)
        let schemes = ["", "http", "https", "socks4", "socks4a", "socks5", "socks5h"]
        // Neither error shows the text, because it may contain a password.
        if written.place.isEmpty || written.place.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7f }) {
            throw UsageError("the proxy is no [SCHEME://]HOST[:PORT]", exitCode: ExitCode.badProxy)
        }
        if !schemes.contains(written.scheme.lowercased().prefix { $0 != ":" }.description) {
            throw UsageError(
                "the proxy's scheme is none of http, https, socks4, socks4a, socks5 and socks5h",
                exitCode: ExitCode.badProxyScheme)
        }
        let login = written.login.map { text in
            let shown = self.login(text)
            return Login(user: Percent.decoded(shown.user), password: Percent.decoded(shown.password ?? ""))
        }
        return ProxyPlace(url: (written.scheme.isEmpty ? scheme : written.scheme) + written.place, login: login)
    }

    /// A field for the proxy only, or "@FILE" with one field per line. No fields can be omitted.
    static func proxyHeaders(_ text: String, number: Int) throws(UsageError) -> Arguments.HeaderChoice {
        let choice = try headers(text, of: "--proxy-header", number: number)
        if case .change(.leaveOut(let name)) = choice {
            throw UsageError("--proxy-header '\(name)' has no value")
        }
        return choice
    }

    /// A class of service: a name such as "ef" or "af21", or a number from 1 to 63. 0 and "default" are none.
    static func serviceClass(_ text: String) throws(UsageError) -> ServiceClass? {
        if text == "0" || text.lowercased() == "default" || text.lowercased() == "cs0" {
            return nil
        }
        guard let known = ServiceClass(name: text) else {
            throw UsageError(
                "--dscp '\(text)' is no class of service: a number from 0 to 63, or ef, cs1 to cs7, af11 to af43")
        }
        return known
    }

    /// A comma-separated list of hosts.
    static func list(_ text: String) -> [String] {
        text.split { $0 == "," || $0 == " " }.map(String.init)
    }

    /// FILE[:PASSWORD]; a colon in the name is written as "\:".
    static func certificate(_ text: String) -> (path: String, password: String?) {
        var path = ""
        var rest = text[...]
        while let character = rest.popFirst() {
            if character == "\\", rest.first == ":" || rest.first == "\\" {
                path.append(rest.removeFirst())
            } else if character == ":" {
                return (path, String(rest))
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
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), digits.utf8.count == 2, !digits.hasPrefix("+"),
                let value = UInt8(digits, radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Encodes everything except letters, digits and "-._~".
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
