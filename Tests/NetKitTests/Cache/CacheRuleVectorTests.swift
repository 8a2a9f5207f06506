import Testing

@testable import NetKit

/// The rules of the HTTP cache against Tests/Vectors/cache_rules.json. Tests/CNetCoreTests/test_cache_rules.c describes
/// the rows and runs them too.
struct CacheRuleVectorTests {
    @Test func rulesDecideAsTheTableRequires() throws {
        let rows: [Row] = try vectors("cache_rules.json")
        #expect(rows.count >= 416)
        for (index, row) in rows.enumerated() {
            let result = RowReader(row).result
            #expect(result == row.expect, "row \(index + 1), \(row.rule): \(row)")
        }
    }

    @Test func equivalentVaryFieldsMatch() {
        let vary = Vary(["Vary": "Foo, Accept-Language", "vary": "foo"])
        #expect(vary?.names == ["accept-language", "foo"])
        let fields = { (headers: Headers) in vary?.fields(of: headers) }
        let one = fields(["foo": "1, 2", "Accept-Language": "en, DE;q=0.5"])
        #expect(one == fields(["Foo": "1", "Accept-Language": "de; q=0.5 ,en", "FOO": "2", "Bar": "x"]))
        #expect(one == ["accept-language": "de;q=0.5,en", "foo": "1,2"])
        #expect(one != fields(["Foo": "2, 1", "Accept-Language": "en, de;q=0.5"]))
        #expect(fields([:]) == [:])
        #expect(fields(["Foo": ""]) == ["foo": ""])
        #expect(Vary([:])?.names == [])
        #expect(Vary(["Vary": "a, *"]) == nil)
    }

    @Test func namesInVaryAreReadOneByOne() {
        // An unbalanced quote, a comma in quotes, and a colon and digits as in the core's text.
        for names in [["\"a", "b"], ["\"a, b\"", "c"], ["-", "1:x", "3:a-b"]] {
            let vary = Vary(names: names)
            let request = Headers(names.map { .init(name: $0, value: "<\($0)>") })
            #expect(vary.fields(of: request).map(\.name) == names)
            #expect(vary.fields(of: request).map(\.value).joined() == names.map { "<\($0)>" }.joined())
        }
    }
}

private struct Row: Decodable {
    let rule: String
    let `do`: String
    let request: String
    let `for`: String?
    let response: String?
    let update: String?
    let clock: String
    let expect: String
}

/// The first line and the fields of a message in a row.
private struct Message {
    var line = ""
    var headers: Headers = [:]

    init(_ text: String?, hasLine: Bool = true) {
        var lines = (text ?? "").split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if hasLine {
            line = lines.removeFirst()
        }
        for line in lines where !line.isEmpty {
            let end = line.firstIndex(of: ":") ?? line.endIndex
            let value = line[end...].dropFirst().drop { $0 == " " }
            let length = value.lastIndex { $0 != " " }.map { value[...$0] } ?? ""
            headers.append(name: String(line[..<end]), value: String(length))
        }
    }

    var status: Int { Int(line) ?? 0 }
}

private struct RowReader {
    private let row: Row
    private var request = Request<Bytes>("")
    private var policy = HTTPCachePolicy()
    private var mode = HTTPCacheRules.Mode.standard
    private let response: Message
    private let update: Message
    private let times: [Int64]

    init(_ row: Row) {
        self.row = row
        let asked = Message(row.request)
        let words = asked.line.split(separator: " ").map(String.init)
        request = Request(words[1], method: Method(rawValue: words[0]))
        request.headers = asked.headers
        response = Message(row.response)
        update = Message(row.update)
        times = row.clock.split(separator: " ").map { 784_111_777_000 + (Int64($0) ?? 0) }
        for option in words.dropFirst(2) {
            take(option)
        }
    }

    private mutating func take(_ option: String) {
        let parts = option.split(separator: "=").map(String.init)
        let number = parts.last.flatMap { Int($0) } ?? 0
        switch parts[0] {
        case "swr": policy.mode = .staleWhileRevalidate(.milliseconds(number))
        case "sie": policy.mode = .staleIfError(.milliseconds(number))
        case "fraction": policy.heuristicFraction = Double(number)
        case "returns-redirects": request.redirects = .return
        default:
            switch parts[1] {
            case "reload": mode = .reload
            case "cache-only": mode = .cacheOnly
            case "no-store": mode = .noStore
            case "network-first": mode = .networkFirst
            default: Issue.record("unknown option \(option)")
            }
        }
    }

    private var rules: HTTPCacheRules { HTTPCacheRules(request, policy) }

    private var stored: CachedResponse {
        var head = StoredResponse.Head()
        head.status = response.status
        head.freshness = freshness
        // The metadata of an entry, so that the fields are those of a hit.
        let metadata = StoredMetadata.storedResponse(StoredResponse(head, headers: response.headers.storable)).bytes
        let entry = CacheEntry(body: Bytes([UInt8](repeating: 0, count: 10)), metadata: metadata)
        guard let cached = entry.cachedResponse(under: .test("k")) else { preconditionFailure("unreadable metadata") }
        var received = cached.storedResponse.head
        received.freshness = head.freshness
        return CachedResponse(
            key: cached.key, storedResponse: StoredResponse(received, headers: cached.storedResponse.headers),
            body: cached.body)
    }

    private var freshness: HTTPFreshness {
        rules.freshness(response.status, response.headers, sent: times[0], received: times[1])
    }

    /// Whether the request has the same selecting fields as the request that the response was stored for.
    private var matchesVary: Bool {
        guard let original = row.for else { return true }
        guard let vary = Vary(response.headers) else { return false }
        return vary.fields(of: request.headers) == vary.fields(of: Message(original, hasLine: false).headers)
    }

    var result: String {
        switch row.do {
        case "freshness": describe(freshness)
        case "decide": decision
        case "failure": failure
        case "store": storability
        case "fields": response.headers.storable.map(\.name).joined(separator: " ")
        case "merge": describe(stored.storedResponse.merged(with: update.headers))
        case "conditions": describe(Headers(stored.storedResponse.conditions))
        case "confirm": yes(stored.storedResponse.isConfirmed(by: update.headers))
        case "confirm-own": yes(rules.isConfirmed(stored.storedResponse, byOwn: update.headers))
        case "same": yes(stored.storedResponse.isSameVersion(asHead: update.status, update.headers))
        case "supersede": yes(rules.isSuperseded(by: response.status))
        case "invalidate":
            HTTPCacheRules.invalidatedURLs(
                request.method, request.url, status: response.status, response.headers
            ).joined(separator: "|")
        default: "unknown operation"
        }
    }

    private func yes(_ value: Bool) -> String { value ? "yes" : "no" }

    private func describe(_ headers: Headers) -> String {
        headers.map { "\($0.name): \($0.value)" }.joined(separator: "|")
    }

    private func describe(_ freshness: HTTPFreshness) -> String {
        var text = "lifetime=\(freshness.lifetime ?? -1)"
        if freshness.initialAge != 0 {
            text += " initial=\(freshness.initialAge)"
        }
        text += freshness.staleWhileRevalidate.map { " swr=\($0)" } ?? ""
        text += freshness.staleIfError.map { " sie=\($0)" } ?? ""
        for (flag, name) in [
            (HTTPFreshness.Flags.noCache, "no-cache"), (.mustRevalidate, "must-revalidate"), (.immutable, "immutable"),
            (.heuristic, "heuristic"),
        ] where freshness.flags.contains(flag) {
            text += " " + name
        }
        return text
    }

    private var decision: String {
        let isMatch = matchesVary
        let answer = rules.decision(on: row.response == nil || !isMatch ? nil : stored, at: times[2], mode)
        var action = answer.decision.description.prefix { $0 != " " }
        if answer.isGatewayTimeout {
            action = "timeout"
        } else if mode == .cacheOnly, !answer.decision.isUse {
            action = "fail"
        }
        let reason = isMatch ? answer.decision.reason : .varies
        let form =
            switch answer.decision.isUse ? answer.form : .whole {
            case .whole: ""
            case .head: " head"
            case .notModified: " 304"
            case .part(let range): " \(range.lowerBound)-\(range.upperBound - 1)"
            }
        return "\(action) \(Self.name(of: reason))\(form)"
    }

    /// Returns the core's name of a reason, such as "stale-if-error".
    private static func name(of reason: CacheReason) -> String {
        if reason == .invalidData {
            return "redirect"
        }
        return reason.rawValue.reduce(into: "") { name, letter in
            name += letter.isUppercase ? "-" + letter.lowercased() : String(letter)
        }
    }

    private var failure: String {
        let status = update.status == 0 ? nil : update.status
        guard matchesVary, let form = rules.formAfterFailure(status, stored, at: times[2], mode) else { return "fetch" }
        switch form {
        case .whole: return "use stale-if-error"
        case .head: return "use stale-if-error head"
        case .notModified: return "use stale-if-error 304"
        case .part(let range): return "use stale-if-error \(range.lowerBound)-\(range.upperBound - 1)"
        }
    }

    /// Swift needs only whether the response may be stored, so a reason against it is not compared.
    private var storability: String {
        let stored = rules.storable(response.status, response.headers, sent: times[0], received: times[1], mode)
        if let stored {
            return stored.head.status == response.status ? "yes" : "another status"
        }
        return row.expect == "yes" ? "no" : row.expect
    }
}
