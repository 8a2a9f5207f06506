/// Writes lines about every call: the request, optionally as a curl command, and the response. They contain no secret
/// whose name ``Redaction`` recognizes.
///
///     configuration.observers = [RequestLog { print($0) }]
public struct RequestLog: Observer {
    /// Hides secrets.
    public var redaction: Redaction
    /// Whether each transfer is also logged as a curl command.
    public var showsCurl = false
    /// Whether fields are logged.
    public var showsHeaders = true
    /// The number of logged bytes of form and JSON bodies (2 KiB), for requests and responses. Other bodies are logged
    /// by their length only.
    public var maxBodyBytes = 2 << 10
    private let write: @Sendable (String) -> Void

    /// - Parameters:
    ///   - redaction: hides secrets.
    ///   - write: called with one line at a time, without its terminator, on any thread.
    public init(_ redaction: Redaction = Redaction(), write: @escaping @Sendable (String) -> Void) {
        self.redaction = redaction
        self.write = write
    }

    /// Writes the lines for the event.
    public func observe(_ event: Event) {
        switch event.change {
        case .exchangeStarted(let number): asked(event, number)
        case .exchangeEnded(_, let outcome): answered(event, outcome)
        case .waiting(let time, let reason):
            line(
                event, reason == .retry ? "tries again in \(Self.text(time))" : "waits \(Self.text(time)) for its turn")
        case .credentialsRefused(let reason): line(event, "credentials are refused: \(reason)")
        case .cacheReported(let report):
            line(event, "cache: \(report.decision)" + (report.isHit ? ", and it is the answer" : ""))
        case .notStored(let error): line(event, "cache: cannot store the answer: \(error.message)")
        case .stopping(.failed(let error)): line(event, "failed after \(Self.text(event.elapsed)): \(error)")
        case .stopping(.answered): line(event, "ended after \(Self.text(event.elapsed))")
        case .suspended: line(event, "is held up")
        case .resumed: line(event, "goes on")
        case .redirected(let head, let url):
            line(event, "redirected by \(head.status) to \(redaction.hiding(url: url))")
        default: break
        }
    }

    private func asked(_ event: Event, _ number: Int) {
        let request = event.request
        line(event, "> \(request.method) \(redaction.hiding(url: request.url))" + (number > 1 ? " (\(number))" : ""))
        fields(event, ">", request.headers)
        if let body = request.body {
            let type = request.headers["Content-Type"] ?? body.contentType
            self.body(event, ">", body.wholeBytes, type)
        }
        if showsCurl {
            line(event, request.curlLine(hiding: redaction))
        }
    }

    private func answered(_ event: Event, _ outcome: Event.Outcome) {
        guard case .answered(let response) = outcome else { return }
        line(event, "< \(response.status) after \(Self.text(event.elapsed))")
        fields(event, "<", response.headers)
        if !response.bytes.isEmpty {
            body(event, "<", response.bytes, response.headers["Content-Type"] ?? "unknown")
        }
    }

    private func fields(_ event: Event, _ mark: String, _ fields: Headers) {
        guard showsHeaders else { return }
        for field in redaction.hiding(fields) {
            line(event, "\(mark) \(field.name): \(field.value)")
        }
    }

    private func body(_ event: Event, _ mark: String, _ bytes: Bytes?, _ type: String?) {
        guard let bytes else {
            line(event, "\(mark) a body that is put together or read while it is sent")
            return
        }
        if bytes.count <= maxBodyBytes, let text = redaction.hiding(body: bytes, contentType: type) {
            line(event, "\(mark) \(text)")
        } else {
            line(event, "\(mark) \(bytes.count) bytes")
        }
    }

    /// Returns one line. Control characters are replaced, so that a server cannot forge lines.
    private func line(_ event: Event, _ text: String) {
        write("#\(event.callID) " + text.printable(" "))
    }

    private static func text(_ time: Duration) -> String {
        "\(Int64(moment: (time / .milliseconds(1)).rounded())) ms"
    }
}
