/// The rules of a private cache for storing responses (RFC 9111, 3).
enum HTTPStorage {
    /// Returns true for statuses that are cacheable without explicit freshness (RFC 9110, 15.1).
    static func isHeuristicallyCacheable(_ status: Int) -> Bool {
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
    }

    /// Returns true for statuses that are understood here, for `must-understand` (RFC 9111, 5.2.2.3).
    private static func isUnderstood(_ status: Int) -> Bool {
        isHeuristicallyCacheable(status)
            || [
                201, 202, 302, 303, 307, 400, 401, 402, 403, 406, 407, 408, 409, 411, 412, 413, 415, 416, 417, 421, 422,
                426, 500, 502, 503, 504, 505,
            ].contains(status)
    }

    /// Returns true if a response may be stored under its request's URL.
    ///
    /// - Parameters:
    ///   - freshness: the freshness of the response.
    ///   - keepsAll: whether to store responses that can neither be used nor be revalidated.
    static func isStorable(
        _ status: Int, _ headers: Headers, of method: Method, url: String, request: CacheControl,
        freshness: HTTPFreshness, keepsAll: Bool = false
    ) -> Bool {
        let control = CacheControl(headers)
        // Partial responses and responses to conditions are incomplete.
        let isPart = status == 206 || (status < 300 && headers.namesPart)
        guard status >= 200, !isPart, status != 304, !request.hasNoStore, !hasVaryStar(headers) else {
            return false
        }
        if control.hasMustUnderstand ? !isUnderstood(status) : control.hasNoStore {
            return false
        }
        let isExplicit = freshness.lifetime != nil && !freshness.flags.contains(.heuristic)
        if method == .post {
            // The response to a POST may stand for that to a GET (RFC 9110, 9.3.3).
            return isExplicit && isSameURL(headers["Content-Location"], as: url)
        }
        guard method == .get else { return false }
        let isGuessed = freshness.flags.contains(.heuristic)
        let canBeAsked = keepsAll || headers["ETag"] != nil || headers["Last-Modified"] != nil
        return isExplicit || isGuessed || (canBeAsked && (isHeuristicallyCacheable(status) || control.isPublic))
    }

    private static func hasVaryStar(_ headers: Headers) -> Bool {
        headers.values(named: "Vary").contains { FieldList.members(of: $0).contains("*") }
    }

    private static func isSameURL(_ reference: String?, as url: String) -> Bool {
        guard let reference else { return false }
        let whole = url.prefix { $0 != "#" }
        if reference == whole {
            return true
        }
        return reference.hasPrefix("/") && whole.hasSuffix(reference)
            && String(whole.dropLast(reference.count)).isOriginAlone
    }

    /// Fields of a single connection and of proxies are not stored (RFC 9111, 3.1).
    private static let passing: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "te", "transfer-encoding", "upgrade",
    ]

    /// Fields that describe the stored body, which a 304 does not change (RFC 9111, 3.2). Some servers send another
    /// Content-Type in each 304.
    private static let ofTheBody: Set<String> = [
        "content-length", "content-encoding", "content-range", "content-type",
    ]

    /// Returns the fields to store. Age is not stored: it is computed for each use.
    static func storedFields(_ headers: Headers) -> Headers {
        var left = passing
        left.insert("age")
        for value in headers.values(named: "Connection") {
            left.formUnion(FieldList.members(of: value).map { $0.lowercased() })
        }
        left.formUnion(CacheControl(headers).noCacheFields.map { $0.lowercased() })
        return Headers(headers.filter { !left.contains($0.name.lowercased()) })
    }

    /// Returns the stored fields, updated by those of a 304 or of the response to a HEAD (RFC 9111, 3.2).
    static func freshened(_ stored: Headers, by news: Headers) -> Headers {
        var taken = storedFields(news).filter { !ofTheBody.contains($0.name.lowercased()) }
        let names = Set(taken.map { $0.name.lowercased() })
        var fields: [Headers.Field] = []
        for field in stored {
            let name = field.name.lowercased()
            if !names.contains(name) {
                fields.append(field)
                continue
            }
            // All fields of a name are placed at the position of the first.
            fields += taken.filter { $0.name.lowercased() == name }
            taken.removeAll { $0.name.lowercased() == name }
        }
        return Headers(fields + taken)
    }

    /// Returns true if a 304 refers to the stored response: its ETag, or without one its Last-Modified, must match (RFC
    /// 9111, 4.3.4). Otherwise the stored body would get the validator of another one, which the server would keep
    /// confirming.
    static func isAbout(_ stored: Headers, _ notModified: Headers) -> Bool {
        if let tag = notModified.byteScalars("ETag") {
            return stored.byteScalars("ETag").map { EntityTag.isSame(tag, $0) } ?? true
        }
        guard let date = notModified.content("Last-Modified"), let known = stored.content("Last-Modified"),
            date != known
        else { return true }
        guard let moment = HTTPDate.epochSeconds(ofAnyCase: date.text) else { return false }
        return moment == HTTPDate.epochSeconds(ofAnyCase: known.text)
    }
}

extension String {
    /// Whether it consists of scheme and authority only.
    fileprivate var isOriginAlone: Bool {
        guard let mark = firstRange(of: "://") else { return false }
        return !self[mark.upperBound...].contains("/")
    }
}

/// Entity tags (RFC 9110, 8.8.3), read with one scalar for each byte.
enum EntityTag {
    /// Compares weakly (RFC 9110, 8.8.3.2).
    static func isSame(_ left: String, _ right: String) -> Bool {
        opaque(left) == opaque(right)
    }

    /// Returns true if If-None-Match contains this tag, or "*".
    static func isNamed(_ tag: String, in field: String) -> Bool {
        FieldList.members(of: field).contains { $0 == "*" || isSame($0, tag) }
    }

    private static func opaque(_ tag: String) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
    }
}
