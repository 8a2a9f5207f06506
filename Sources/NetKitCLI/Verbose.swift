import NetKit

/// Creates the output of -v. Lines with "> " were sent, lines with "< " were received, and lines with "* " are
/// information from the library. Secrets are hidden.
enum Verbose {
    /// Returns the lines that can be printed when the last head has arrived, or when the transfer has failed before
    /// that.
    ///
    /// - Parameters:
    ///   - heads: the fields of the last hops. Fewer than all hops may be known.
    ///   - isDownload: whether the transfer is a download that can be resumed and checked.
    static func opening(
        of transferRequest: TransferRequest, _ metrics: Metrics, heads: [Headers], isDownload: Bool = false
    ) -> [String] {
        let request = transferRequest.request
        if metrics.isEmpty {
            return ["* nothing was sent to \(URLText(redaction.hiding(url: request.url)).withoutLogin)"].map(
                printable)
        }
        var lines: [String] = []
        var method = request.method
        for (index, hop) in metrics.enumerated() {
            lines.append(connection(of: hop))
            lines += security(of: hop)
            guard wasSent(hop) else { continue }
            lines += index == 0 ? transferRequest.proxyMessage.map { ["* \($0)"] } ?? [] : []
            // In HTTP/1, the version of the response may differ from that of the request, which the library does not
            // report.
            let isUnreported = ![.http2, .http3].contains(hop.httpVersion)
            let oldest = request.httpVersionPolicy == .http1_0 ? HTTPVersion.http1_0 : .http1_1
            let version = isUnreported ? oldest : hop.httpVersion
            let target = transferRequest.isForwarded(hop) ? absolute(hop.url) : target(of: hop.url)
            lines.append("> \(method) \(target) \(version)")
            lines.append("> Host: \(request.headers["Host"] ?? URLText(hop.url).hostAndPort)")
            // The fields are printed only for the first hop. On a redirect to another origin, the library removes some
            // and does not report which.
            lines += index == 0 ? fields(of: transferRequest, version, isDownload: isDownload) : []
            if hop.status > 0 {
                let headIndex = index - (metrics.count - heads.count)
                lines.append("< \(hop.httpVersion) \(hop.status)")
                lines += headIndex >= 0 ? heads[headIndex].map { "< " + shown($0.name, $0.value) } : []
                lines += droppedFieldsLine(hop)
            } else {
                lines.append("* no response")
            }
            if index < metrics.count - 1 {
                lines.append(transferReport(of: hop))
            }
            method = methodAfter(hop.status, method)
        }
        return lines.map(printable)
    }

    /// Returns the lines that can be printed when the transfer has ended.
    static func closing(of metrics: Metrics) -> [String] {
        metrics.last.map { wasSent($0) ? [transferReport(of: $0)] : [] } ?? []
    }

    private static func wasSent(_ hop: HopMetrics) -> Bool {
        hop.ready != nil || hop.isReused
    }

    /// Returns the line with terminal control characters replaced.
    static func printable(_ line: String) -> String { line.printable() }

    private static func droppedFieldsLine(_ hop: HopMetrics) -> [String] {
        guard hop.droppedFields > 0 else { return [] }
        let fields = hop.droppedFields == 1 ? "1 field" : "\(Format.count(hop.droppedFields)) fields"
        return ["* ignored \(fields) with an invalid name"]
    }

    private static func connection(of hop: HopMetrics) -> String {
        let isIPv6 = hop.remoteAddress.contains(":")
        let address = (isIPv6 ? "[\(hop.remoteAddress)]" : hop.remoteAddress) + ":\(hop.remotePort)"
        let destination = hop.remoteAddress.isEmpty ? "the Unix socket" : address
        if hop.isReused {
            return "* connection to \(destination) is reused"
        }
        func phase(_ name: String, _ from: Duration?, _ to: Duration?) -> String? {
            guard let from, let to, to >= from else { return nil }
            return "\(name) \(Format.milliseconds(to - from))"
        }
        let parts = [
            phase("name", hop.started, hop.resolved), phase("TCP", hop.resolved, hop.connected),
            phase("TLS", hop.connected, hop.secured),
        ].compactMap { $0 }
        let times = parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
        return hop.ready == nil
            ? "* no connection to \(URLText(hop.url).hostAndPort)\(times)" : "* connected to \(destination)\(times)"
    }

    /// Returns the TLS parameters of a new connection, in curl's format.
    private static func security(of hop: HopMetrics) -> [String] {
        let parts = [hop.tlsVersion, hop.tlsCipher, hop.tlsGroup].filter { !$0.isEmpty }
        return parts.isEmpty || hop.isReused ? [] : ["* SSL connection using \(parts.joined(separator: " / "))"]
    }

    private static func transferReport(of hop: HopMetrics) -> String {
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

    /// Returns the sent fields in order. Fields that are added during the transfer are unknown here: the password of a
    /// netrc file, the cookies of a jar, and the authorization response to a challenge.
    private static func fields(of transferRequest: TransferRequest, _ version: HTTPVersion, isDownload: Bool)
        -> [String]
    {
        let request = transferRequest.request
        let hasBody = request.body != nil
        var fields: [(name: String, value: String)] = transferRequest.sendsLogin ? [("Authorization", hidden)] : []
        if hasBody && transferRequest.announcedBytes == nil && version == .http1_1 {
            fields.append(("Transfer-Encoding", "chunked"))
        }
        // These fields are left out here, because the library sends its own values, which are added separately.
        let others =
            ["host"] + (transferRequest.formType == nil ? [] : ["content-type"])
            + (isDownload ? ["accept-encoding"] : [])
        fields += request.headers.filter { !others.contains($0.name.lowercased()) }.map { ($0.name, $0.value) }
        if let type = transferRequest.formType {
            fields.append(("Content-Type", type))
        }
        if isDownload {
            fields.append(("Accept-Encoding", "identity"))
        } else if request.acceptsCodings && request.headers["Accept-Encoding"] == nil {
            fields.append(("Accept-Encoding", Versions.codings))
        }
        let names = Set(request.headers.map { $0.name.lowercased() })
        if request.acceptsTransferCodings, version == .http1_1, !isDownload, names.isDisjoint(with: ["te", "upgrade"]) {
            fields += [("TE", "gzip"), ("Connection", "TE")]
        }
        if let length = transferRequest.announcedBytes {
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

    /// Returns the value of a field, such as Location, without the names and passwords of URLs in it. A password may
    /// contain a comma or a space. It ends at the last "@" before the end of the host, or before a delimiter of URLs in
    /// text.
    private static func withoutLogins(_ value: String) -> String {
        var shown = ""
        var remaining = value.unicodeScalars[...]
        while let slash = remaining.firstIndex(of: "/") {
            let start = remaining[slash...].firstIndex { $0 != "/" } ?? remaining.endIndex
            let end = remaining[start...].firstIndex { "/?#<>\"".unicodeScalars.contains($0) } ?? remaining.endIndex
            // libcurl also accepts a single slash after a scheme.
            let isHost = remaining.distance(from: slash, to: start) > 1 || remaining[..<slash].last == ":"
            let at = isHost ? remaining[start..<end].lastIndex(of: "@") : nil
            shown +=
                String(remaining[..<start]) + String(remaining[(at.map { remaining.index(after: $0) } ?? start)..<end])
            remaining = remaining[end...]
        }
        return shown + String(remaining)
    }

    // MARK: URLs

    /// Returns the name and the password of a URL.
    static func login(in url: String) -> Login? {
        guard let loginText = URLText(url).login else { return nil }
        let login = OptionValue.login(loginText)
        return Login(user: Percent.decoded(login.user), password: login.password.map(Percent.decoded))
    }

    private static func target(of url: String) -> String {
        let target = URLText(redaction.hiding(url: url)).target
        return target.behind("/") == nil ? "/" + target : target
    }

    /// Returns the target of a request to a proxy (RFC 9112, 3.2.2).
    private static func absolute(_ url: String) -> String {
        URLText(url).scheme + URLText(url).hostAndPort + target(of: url)
    }

    /// Returns the method after a redirect, by the same rules as in the library (RFC 9110, 15.4). 303 changes the
    /// method to GET, except HEAD. 301 and 302 change POST to GET.
    static func methodAfter(_ status: Int, _ method: Method) -> Method {
        if status == 303 && method != .head || (status == 301 || status == 302) && method == .post {
            return .get
        }
        return method
    }
}
