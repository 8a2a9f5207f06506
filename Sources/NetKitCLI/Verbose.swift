import NetKit

/// The output of -v: "> " is sent, "< " is received, "* " is information from the library. Secrets are hidden.
enum Verbose {
    /// Returns the lines that are known with the last head, or after a failure before it.
    ///
    /// - Parameters:
    ///   - heads: the fields of the last hops, as far as they are known.
    ///   - isDownload: whether it is a download into a file, with resuming and checks.
    static func opening(
        of plan: Plan, _ metrics: Metrics, heads: [Headers], isDownload: Bool = false
    ) -> [String] {
        let request = plan.request
        if metrics.isEmpty {
            return ["* nothing was sent to \(WrittenURL(redaction.hiding(url: request.url)).withoutLogin)"].map(
                printable)
        }
        var lines: [String] = []
        var method = request.method
        for (index, hop) in metrics.enumerated() {
            lines.append(connection(of: hop))
            lines += security(of: hop)
            guard wasAsked(hop) else { continue }
            lines += index == 0 ? plan.proxyNote.map { ["* \($0)"] } ?? [] : []
            // A server may reply with another HTTP/1 version than that of the request.
            let isUntold = ![.http2, .http3].contains(hop.httpVersion)
            let oldest = request.protocolChoice == .http1_0 ? HTTPVersion.http1_0 : .http1_1
            let version = isUntold ? oldest : hop.httpVersion
            let target = plan.isForwarded(hop) ? absolute(hop.url) : target(of: hop.url)
            lines.append("> \(method) \(target) \(version)")
            lines.append("> Host: \(request.headers["Host"] ?? WrittenURL(hop.url).place)")
            // Fields may be removed from a later hop to another origin, and the library does not report which.
            lines += index == 0 ? fields(of: plan, version, isDownload: isDownload) : []
            if hop.status > 0 {
                let known = index - (metrics.count - heads.count)
                lines.append("< \(hop.httpVersion) \(hop.status)")
                lines += known >= 0 ? heads[known].map { "< " + shown($0.name, $0.value) } : []
                lines += dropped(hop)
            } else {
                lines.append("* no response head")
            }
            if index < metrics.count - 1 {
                lines.append(account(of: hop))
            }
            method = methodAfter(hop.status, method)
        }
        return lines.map(printable)
    }

    /// Returns the lines that are known at the end.
    static func closing(of metrics: Metrics) -> [String] {
        metrics.last.map { wasAsked($0) ? [account(of: $0)] : [] } ?? []
    }

    private static func wasAsked(_ hop: HopMetrics) -> Bool {
        hop.ready != nil || hop.isReused
    }

    /// Replaces terminal control characters.
    static func printable(_ line: String) -> String { line.printable() }

    private static func dropped(_ hop: HopMetrics) -> [String] {
        guard hop.droppedFields > 0 else { return [] }
        let fields = hop.droppedFields == 1 ? "1 field" : "\(Format.count(hop.droppedFields)) fields"
        return ["* dropped \(fields) with a malformed name"]
    }

    private static func connection(of hop: HopMetrics) -> String {
        let isIPv6 = hop.remoteAddress.contains(":")
        let address = (isIPv6 ? "[\(hop.remoteAddress)]" : hop.remoteAddress) + ":\(hop.remotePort)"
        let place = hop.remoteAddress.isEmpty ? "the Unix socket" : address
        if hop.isReused {
            return "* connection to \(place) is used again"
        }
        func passed(_ name: String, _ from: Duration?, _ to: Duration?) -> String? {
            guard let from, let to, to >= from else { return nil }
            return "\(name) \(Format.milliseconds(to - from))"
        }
        let parts = [
            passed("name", hop.started, hop.resolved), passed("TCP", hop.resolved, hop.connected),
            passed("TLS", hop.connected, hop.secured),
        ].compactMap { $0 }
        let times = parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
        return hop.ready == nil
            ? "* no connection to \(WrittenURL(hop.url).place)\(times)" : "* connected to \(place)\(times)"
    }

    /// The TLS parameters of a new connection, in curl's format.
    private static func security(of hop: HopMetrics) -> [String] {
        let parts = [hop.tlsVersion, hop.tlsCipher, hop.tlsGroup].filter { !$0.isEmpty }
        return parts.isEmpty || hop.isReused ? [] : ["* SSL connection using \(parts.joined(separator: " / "))"]
    }

    private static func account(of hop: HopMetrics) -> String {
        var parts: [String] = []
        if let firstByte = hop.firstByte {
            parts.append("first byte \(Format.milliseconds(firstByte))")
        }
        if let ended = hop.ended {
            parts.append("end \(Format.milliseconds(ended))")
        }
        parts.append("sent \(hop.sentBytes) bytes, head \(hop.headBytes), body \(hop.receivedBytes)")
        if hop.decodedBytes != hop.receivedBytes {
            parts.append("decoded \(hop.decodedBytes)")
        }
        return "* " + parts.joined(separator: ", ")
    }

    /// The sent fields in order. Fields added during the transfer are unknown here: the password of a netrc file, the
    /// cookies of a jar, an authorization response.
    private static func fields(of plan: Plan, _ version: HTTPVersion, isDownload: Bool) -> [String] {
        let request = plan.request
        let hasBody = request.body != nil
        var fields: [(name: String, value: String)] = plan.showsLogin ? [("Authorization", hidden)] : []
        if hasBody && plan.announcedBytes == nil && version == .http1_1 {
            fields.append(("Transfer-Encoding", "chunked"))
        }
        // The library sends its own values of these fields.
        let others = ["host"] + (plan.formType == nil ? [] : ["content-type"]) + (isDownload ? ["accept-encoding"] : [])
        fields += request.headers.filter { !others.contains($0.name.lowercased()) }.map { ($0.name, $0.value) }
        if let type = plan.formType {
            fields.append(("Content-Type", type))
        }
        if isDownload {
            fields.append(("Accept-Encoding", "identity"))
        } else if request.acceptsCodings && request.headers["Accept-Encoding"] == nil {
            fields.append(("Accept-Encoding", Versions.codings))
        }
        if let length = plan.announcedBytes {
            fields.append(("Content-Length", "\(length)"))
        }
        return fields.map { "> " + shown($0.name, $0.value) }
    }

    // MARK: Secrets

    private static let redaction = Redaction()
    private static let hidden = Redaction.mark

    /// Returns a URL for the terminal, without secrets.
    static func shown(url: String) -> String { printable(redaction.hiding(url: url)) }

    static func shown(_ name: String, _ value: String) -> String {
        let field = redaction.hiding(Headers([Headers.Field(name: name, value: value)])).first
        return "\(name): \(withoutLogins(field?.value ?? hidden))"
    }

    /// Returns a field's value without names and passwords in URLs, such as that of a redirect. A password may contain
    /// a comma or a space. It ends with the last "@" before the end of the host, or before a delimiter of URLs in text.
    private static func withoutLogins(_ value: String) -> String {
        var shown = ""
        var rest = value.unicodeScalars[...]
        while let slash = rest.firstIndex(of: "/") {
            let start = rest[slash...].firstIndex { $0 != "/" } ?? rest.endIndex
            let end = rest[start...].firstIndex { "/?#<>\"".unicodeScalars.contains($0) } ?? rest.endIndex
            // libcurl accepts a single slash after a scheme.
            let isHost = rest.distance(from: slash, to: start) > 1 || rest[..<slash].last == ":"
            let at = isHost ? rest[start..<end].lastIndex(of: "@") : nil
            shown += String(rest[..<start]) + String(rest[(at.map { rest.index(after: $0) } ?? start)..<end])
            rest = rest[end...]
        }
        return shown + String(rest)
    }

    // MARK: URLs

    /// Returns the name and the password of a URL.
    static func login(in url: String) -> Login? {
        guard let written = WrittenURL(url).login else { return nil }
        let login = OptionValue.login(written)
        return Login(user: Percent.decoded(login.user), password: login.password.map(Percent.decoded))
    }

    private static func target(of url: String) -> String {
        let target = WrittenURL(redaction.hiding(url: url)).target
        return target.behind("/") == nil ? "/" + target : target
    }

    /// The target of a request to a proxy (RFC 9112, 3.2.2).
    private static func absolute(_ url: String) -> String {
        WrittenURL(url).scheme + WrittenURL(url).place + target(of: url)
    }

    /// As in the library (RFC 9110, 15.4): 303 changes the method to GET, 301 and 302 change POST to GET.
    static func methodAfter(_ status: Int, _ method: Method) -> Method {
        if status == 303 && method != .head || (status == 301 || status == 302) && method == .post {
            return .get
        }
        return method
    }
}
