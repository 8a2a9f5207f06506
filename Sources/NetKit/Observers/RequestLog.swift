/// Writes lines about every call: the request, optionally as a curl command, and the response. Secrets whose names
/// ``Redaction`` recognizes are hidden.
///
///     configuration.observers = [RequestLog { print($0) }]
///     configuration.observers = [RequestLog(level: .headers) { print($0) }]
public struct RequestLog: Observer {
    /// The parts of a call that are logged. Each level includes the previous ones.
    public enum Level: Sendable, Hashable {
        /// Methods, URLs, statuses, times and errors.
        case basic
        /// Header fields.
        case headers
        /// Bodies up to ``RequestLog/maxBodyBytes``.
        case bodies
    }

    /// The parts of a call that are logged.
    public var level: Level
    /// Hides secrets.
    public var redaction: Redaction
    /// Whether each transfer is also logged as a curl command.
    public var showsCurl = false
    /// The size of the largest form or JSON body that is logged, in bytes (2 KiB). Of other bodies only the length is
    /// logged.
    public var maxBodyBytes = 2 << 10
    private let write: @Sendable (String) -> Void

    /// Creates a log.
    ///
    /// - Parameters:
    ///   - level: the parts of a call that are logged.
    ///   - redaction: hides secrets.
    ///   - write: called for each line, on any thread. The line has no line feed at its end.
    public init(
        level: Level = .bodies, redaction: Redaction = Redaction(), write: @escaping @Sendable (String) -> Void
    ) {
        self.level = level
        self.redaction = redaction
        self.write = write
    }

    /// Writes the lines for the event.
    public func observe(_ event: Event) {
        switch event.change {
        case .exchangeStarted(let number): logRequest(event, number)
        case .exchangeEnded(_, let outcome): logResponse(event, outcome)
        case .waiting(let time, let reason):
            line(
                event, reason == .retry ? "retrying in \(Self.text(time))" : "waiting \(Self.text(time)) (\(reason))")
        case .credentialsRefused(let reason): line(event, "credentials rejected: \(reason)")
        case .cacheReported(let report):
            line(event, "cache: \(report.decision)" + (report.isHit ? ", served from the cache" : ""))
        case .notStored(let error): line(event, "cache: cannot store the response: \(error.message)")
        case .stopping(.failed(let error)): line(event, "failed after \(Self.text(event.elapsed)): \(error)")
        case .stopping(.answered): line(event, "ended after \(Self.text(event.elapsed))")
        case .suspended: line(event, "paused")
        case .resumed: line(event, "resumed")
        case .redirected(let head, let url):
            line(event, "redirected by \(head.status) to \(redaction.hiding(url: url))")
        default: break
        }
    }

    private func logRequest(_ event: Event, _ number: Int) {
        let request = event.request
        line(event, "> \(request.method) \(redaction.hiding(url: request.url))" + (number > 1 ? " (\(number))" : ""))
        fields(event, ">", request.headers)
        if let body = request.body {
            let type = request.headers["Content-Type"] ?? body.contentType
            self.body(event, ">", body.wholeBytes, type)
        }
        if showsCurl {
            line(event, request.curl(hiding: redaction))
        }
    }

    private func logResponse(_ event: Event, _ outcome: Event.Outcome) {
        guard case .answered(let response) = outcome else { return }
        line(event, "< \(response.status) after \(Self.text(event.elapsed))")
        fields(event, "<", response.headers)
        if !response.bytes.isEmpty {
            body(event, "<", response.bytes, response.headers["Content-Type"] ?? "unknown")
        }
    }

    private func fields(_ event: Event, _ prefix: String, _ fields: Headers) {
        guard level != .basic else { return }
        for field in redaction.hiding(fields) {
            line(event, "\(prefix) \(field.name): \(field.value)")
        }
    }

    private func body(_ event: Event, _ prefix: String, _ bytes: Bytes?, _ type: String?) {
        guard level == .bodies else { return }
        guard let bytes else {
            line(event, "\(prefix) a body that is not in memory (multipart, file or stream)")
            return
        }
        if bytes.count <= maxBodyBytes, let text = redaction.hiding(body: bytes, contentType: type) {
            line(event, "\(prefix) \(text)")
        } else {
            line(event, "\(prefix) \(bytes.count) bytes")
        }
    }

    /// Writes one line. Control characters are replaced, so that a server cannot forge lines.
    private func line(_ event: Event, _ text: String) {
        write("#\(event.callID) " + text.printable(" "))
    }

    private static func text(_ time: Duration) -> String {
        "\(Int64(moment: (time / .milliseconds(1)).rounded())) ms"
    }
}

// Descriptions of values that may contain secrets, so that neither `print` nor `dump` shows the secrets.

extension ResponseStream: SecretHolding {
    /// One line with status, URL without its query, and fields without secrets.
    public var description: String {
        "ResponseStream(status: \(status), url: \"\(String(headOnly.urlWithoutQuery).shownPath)\", headers: \(headers))"
            .printable()
    }
}

extension Request: SecretHolding {
    /// One line with method, URL without query and credentials, and fields without secrets.
    public var description: String {
        "Request<\(Value.self)>(\(method) \"\(url.shownPath)\", headers: \(headers))".printable()
    }
}

extension Cookie: SecretHolding {
    /// The name, domain and path. The value is hidden, because it is usually a secret.
    public var description: String {
        "Cookie(\(name)=\(Redaction.mark), domain: \"\(domain)\", path: \"\(path)\")".printable()
    }
}

extension String {
    /// The URL without its query and its credentials. Secrets in its path parameters are hidden.
    var shownPath: String { Redaction().hiding(url: displayedLocation) }
}

extension Headers: SecretHolding {
    /// The fields as a literal. Values that contain secrets are hidden, as in a ``RequestLog``.
    public var description: String {
        isEmpty ? "[:]" : "[\(map(\.description).joined(separator: ", "))]"
    }
}

extension Headers.Field: SecretHolding {
    /// The quoted name and value. A value that contains a secret is hidden.
    public var description: String {
        "\(name.debugDescription): \(shownValue.debugDescription)".printable()
    }

    private var shownValue: String { Redaction().hiding(Headers([self])).first?.value ?? "" }
}

extension Response: SecretHolding {
    /// One line with status, URL without its query, fields without secrets, and the number of body bytes.
    public var description: String {
        "Response(status: \(status), url: \"\(String(urlWithoutQuery).shownPath)\", headers: \(headers), bytes: \(bytes.count))"
            .printable()
    }

    /// The values of the description, and the decoded value.
    public var customMirror: Mirror {
        let children: [(String?, Any)] = [
            ("status", status), ("url", String(urlWithoutQuery).shownPath), ("headers", headers),
            ("bytes", bytes.count),
            ("value", value),
        ]
        return Mirror(self, children: children.map { (label: $0.0, value: $0.1) }, displayStyle: .struct)
    }
}
