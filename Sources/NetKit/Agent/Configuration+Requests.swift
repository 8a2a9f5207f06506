extension Agent.Configuration {
    /// Returns the URL of `path` for an agent with this configuration; without a base URL, `path` unchanged.
    ///
    /// A space, a character that is not ASCII, and a "%" without two hex digits after it are percent-encoded. Existing
    /// percent-encoding stays. A path that is a URL with a host is returned as the result.
    ///
    /// - Throws: ``NetError/Code/badURL`` if the result would not be a valid URL.
    public func url(for path: String) throws(NetError) -> String {
        guard let baseURL else { return path }
        return try joinURL(path, to: baseURL, keepsBasePath: keepsBasePath)
    }

    /// "NetKit/", its version, and the platform.
    public static var defaultUserAgent: String {
        userAgent(product: "NetKit", version: coreVersion)
    }

    /// Returns a User-Agent (RFC 9110, 10.1.5): "product/version (platform)", such as "Cities/1.2 (Linux; x86_64)".
    ///
    /// Characters that are not allowed in a product or a version become "-".
    public static func userAgent(product: String, version: String) -> String {
        "\(token(product))/\(token(version)) (\(platform))"
    }

    private static func token(_ text: String) -> String {
        let allowed = Set("!#$%&'*+-.^_`|~".utf8)
        let token = text.unicodeScalars.map { scalar -> Character in
            let isAllowed =
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9": true
                default: scalar.isASCII && allowed.contains(UInt8(scalar.value))
                }
            return isAllowed ? Character(scalar) : "-"
        }
        return token.isEmpty ? "-" : String(token)
    }

    private static var platform: String {
        #if os(macOS)
        let system = "macOS"
        #elseif os(Linux)
        let system = "Linux"
        #else
        let system = "Unix"
        #endif
        #if arch(x86_64)
        return system + "; x86_64"
        #elseif arch(arm64)
        return system + "; arm64"
        #else
        return system
        #endif
    }

    /// Returns the preferred languages of these environment variables, most preferred first. They come from LANGUAGE (a
    /// list) if the locale is not "C", otherwise from the first of LC_ALL, LC_MESSAGES and LANG that is set.
    ///
    /// NetKit never reads the environment by itself: `configuration.languages = .languages(from: environment)`.
    public static func languages(from environment: [String: String]) -> [String] {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        guard let preferred = tag(locale) else { return [] }
        let listed = (environment["LANGUAGE"] ?? "").split(separator: ":").compactMap { tag(String($0)) }
        var languages: [String] = []
        for language in listed.isEmpty ? [preferred] : listed where !languages.contains(language) {
            languages.append(language)
        }
        return languages
    }

    /// Returns the language tag of a locale: "de_CH.UTF-8@euro" is "de-CH"; "C" and "POSIX" are no language.
    private static func tag(_ locale: String) -> String? {
        let name = String(locale.prefix { $0 != "." && $0 != "@" })
        guard name != "C", name != "POSIX", !name.isEmpty else { return nil }
        let tag = String(name.map { $0 == "_" ? "-" : $0 })
        return isLanguageTag(tag) ? tag : nil
    }

    /// Checks for groups of at most eight letters and digits (RFC 5646, 2.1), which are safe in a field.
    private static func isLanguageTag(_ tag: String) -> Bool {
        tag == "*"
            || tag.split(separator: "-", omittingEmptySubsequences: false).allSatisfy { group in
                (1...8).contains(group.utf8.count)
                    && group.utf8.allSatisfy {
                        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
                    }
            }
    }

    /// The first six languages, each with a weight one tenth below the previous one.
    private var acceptLanguage: String? {
        let weights = ["1", "0.9", "0.8", "0.7", "0.6", "0.5"]
        let weighed = zip(languages.filter(Self.isLanguageTag), weights).map { "\($0);q=\($1)" }
        return weighed.isEmpty ? nil : weighed.joined(separator: ", ")
    }

    /// The fields of requests that do not set them: `headers`, then those of the other settings.
    var defaultHeaders: Headers {
        var others = Headers()
        if let acceptLanguage {
            others.append(name: "Accept-Language", value: acceptLanguage)
        }
        if let userAgent {
            others.append(name: "User-Agent", value: userAgent)
        }
        return headers.filled(from: others)
    }
}
