/// The directives of Cache-Control fields (RFC 9111, 5.2), of a request or of a response.
///
/// Names are case-insensitive, the first of two equal directives applies, and unknown ones are ignored. An invalid time
/// counts as 0: a response with broken times is stale (RFC 9111, 4.2.1).
struct CacheControl: Sendable, Equatable {
    var hasNoStore = false
    var hasNoCache = false
    /// The fields in `no-cache="…"`.
    var noCacheFields: [String] = []
    var hasMustRevalidate = false
    var hasMustUnderstand = false
    var isPublic = false
    var isImmutable = false
    var isOnlyIfCached = false
    /// Seconds.
    var maxAge: Int64?
    /// Seconds.
    var minFresh: Int64?
    /// Seconds; `.max` without a number.
    var maxStale: Int64?
    /// Seconds (RFC 5861, 3).
    var staleWhileRevalidate: Int64?
    /// Seconds (RFC 5861, 4).
    var staleIfError: Int64?

    /// Longer than any lifetime.
    static let longest: Int64 = 1 << 40

    init(_ headers: Headers) {
        for value in headers.values(named: "Cache-Control") {
            for (name, argument) in FieldList.directives(of: value) {
                take(name, argument)
            }
        }
    }

    private mutating func take(_ name: String, _ argument: String?) {
        switch name {
        case "no-store": hasNoStore = true
        case "no-cache": takeNoCache(argument)
        case "must-revalidate": hasMustRevalidate = true
        case "must-understand": hasMustUnderstand = true
        case "public": isPublic = true
        case "immutable": isImmutable = true
        case "only-if-cached": isOnlyIfCached = true
        case "max-age": maxAge = maxAge ?? Self.seconds(argument)
        case "min-fresh": minFresh = minFresh ?? Self.seconds(argument)
        case "max-stale": maxStale = maxStale ?? (argument == nil ? .max : Self.seconds(argument))
        case "stale-while-revalidate": staleWhileRevalidate = staleWhileRevalidate ?? Self.seconds(argument)
        case "stale-if-error": staleIfError = staleIfError ?? Self.seconds(argument)
        default: break
        }
    }

    /// With names, the directive applies to those fields only.
    private mutating func takeNoCache(_ argument: String?) {
        let names = argument.map { FieldList.members(of: $0) } ?? []
        if names.isEmpty {
            hasNoCache = true
        } else {
            noCacheFields += names
        }
    }

    private static func seconds(_ argument: String?) -> Int64 {
        argument.flatMap { DeltaSeconds.read($0) } ?? 0
    }
}

/// A number of seconds (RFC 9111, 1.2.2).
enum DeltaSeconds {
    /// Parses digits only; returns `nil` for other text. A number that is too large stands for an endless time.
    static func read(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int64(text).map { min($0, CacheControl.longest) } ?? CacheControl.longest
    }
}

/// Lists in a field's value, split at commas outside of quotes (RFC 9110, 5.6.1).
enum FieldList {
    /// Returns the members without blanks around them; empty members are left out.
    static func members(of value: String) -> [String] {
        var members: [String] = []
        var member: [UInt8] = []
        var isQuoted = false
        var isEscaped = false
        for byte in value.utf8 {
            if byte == UInt8(ascii: ","), !isQuoted {
                members.append(String(decoding: member, as: UTF8.self).trimmingBlanks)
                member = []
                continue
            }
            if byte == UInt8(ascii: "\""), !isEscaped {
                isQuoted.toggle()
            }
            isEscaped = isQuoted && byte == UInt8(ascii: "\\") && !isEscaped
            member.append(byte)
        }
        members.append(String(decoding: member, as: UTF8.self).trimmingBlanks)
        return members.filter { !$0.isEmpty }
    }

    /// Returns names in lower case, and the text directly after "=" without its quotes.
    static func directives(of value: String) -> [(name: String, argument: String?)] {
        members(of: value).map { member in
            guard let mark = member.firstIndex(of: "=") else { return (member.lowercased(), nil) }
            let argument = member[member.index(after: mark)...]
            return (member[..<mark].lowercased(), unquoted(argument))
        }
    }

    private static func unquoted(_ text: Substring) -> String {
        guard text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return String(text) }
        var plain = ""
        var isEscaped = false
        for character in text.dropFirst().dropLast() {
            if character == "\\", !isEscaped {
                isEscaped = true
                continue
            }
            isEscaped = false
            plain.append(character)
        }
        return plain
    }
}
