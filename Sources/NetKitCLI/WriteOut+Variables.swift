import NetKit

extension WriteOut {
    enum Value: Equatable {
        case text(String)
        case number(Int)
        /// A number with at least three digits.
        case status(Int)
        case seconds(Duration)
        /// No value, because nk does not have it.
        case nothing

        var text: String {
            switch self {
            case .text(let text): text
            case .number(let number): String(number)
            case .status(let status): String(repeating: "0", count: max(0, 3 - String(status).count)) + String(status)
            case .seconds(let duration): Format.decimal(Format.number(of: duration), 6)
            case .nothing: ""
            }
        }

        var json: String {
            switch self {
            case .text(let text): WriteOut.quoted(text)
            case .number(let number), .status(let number): String(number)
            case .seconds: text
            case .nothing: "null"
            }
        }
    }

    /// The variables. Three of them, for TLS, do not exist in curl. As in curl, times are measured from the start and
    /// include redirects.
    static let variables: [String: @Sendable (TransferReport) -> Value] = [
        "content_type": { $0.headers["Content-Type"].map { .text($0) } ?? .nothing },
        "errormsg": { $0.message.map { .text($0) } ?? .nothing },
        "exitcode": { .number(Int($0.exitCode)) },
        "filename_effective": { $0.fileName.map { .text($0) } ?? .nothing },
        "http_code": { .status($0.status) },
        "http_version": { .text(version($0.metrics.last?.httpVersion)) },
        "method": { .text($0.lastMethod.rawValue) },
        "num_connects": { .number($0.metrics.reduce(0) { $0 + $1.connectionsOpened }) },
        "num_headers": { .number($0.headers.count) },
        "num_redirects": { .number(max(0, $0.metrics.count - 1)) },
        "redirect_url": { $0.redirectURL.map { .text($0) } ?? .nothing },
        "remote_ip": { .text($0.metrics.last?.remoteAddress ?? "") },
        "remote_port": { .number(Int($0.metrics.last?.remotePort ?? 0)) },
        "response_code": { .status($0.status) },
        "scheme": { .text(String($0.url.prefix { $0 != ":" }).uppercased()) },
        "size_download": { .number($0.metrics.last?.receivedBytes ?? 0) },
        "size_header": { .number($0.metrics.reduce(0) { $0 + $1.headBytes }) },
        "size_request": { .number($0.metrics.reduce(0) { $0 + $1.sentBytes }) },
        "size_upload": { .number($0.uploadedBytes) },
        "speed_download": { .number(rate($0.metrics.last?.receivedBytes ?? 0, $0.elapsed)) },
        "speed_upload": { .number(rate($0.uploadedBytes, $0.elapsed)) },
        "time_appconnect": { .seconds($0.sum { $0.secured }) },
        "time_connect": { .seconds($0.sum { $0.connected }) },
        "time_namelookup": { .seconds($0.sum { $0.resolved }) },
        "time_pretransfer": { .seconds($0.sum { $0.ready }) },
        "time_redirect": { .seconds($0.redirectTime) },
        "time_starttransfer": { .seconds($0.sum { $0.firstByte }) },
        "time_total": { .seconds($0.elapsed) },
        "tls_cipher": { .text($0.metrics.last?.tlsCipher ?? "") },
        "tls_group": { .text($0.metrics.last?.tlsGroup ?? "") },
        "tls_version": { .text($0.metrics.last?.tlsVersion ?? "") },
        "url": { .text(URLText($0.job.url).withoutLogin) },
        "url_effective": { .text($0.url) },
        "urlnum": { .number($0.job.index) },
    ]

    /// Returns all variables and the version as a JSON object.
    static func json(of transferReport: TransferReport) -> String {
        var pairs = variables.keys.sorted().map { name in
            "\(quoted(name)):\(variables[name]?(transferReport).json ?? "null")"
        }
        pairs.append("\"curl_version\":\(quoted("nk/\(Versions.nk) libcurl/\(Versions.curl)"))")
        return "{\(pairs.joined(separator: ","))}"
    }

    /// Returns the fields of the last head as a JSON object. Each lower-case name has an array of all its values.
    static func json(of headers: Headers) -> String {
        var names: [String] = []
        var values: [String: [String]] = [:]
        for field in headers {
            let name = field.name.lowercased()
            if values[name] == nil {
                names.append(name)
            }
            values[name, default: []].append(quoted(field.value))
        }
        let members = names.map { "\(quoted($0)):[\(values[$0, default: []].joined(separator: ","))]" }
        return "{\(members.joined(separator: ",\n"))\n}"
    }

    fileprivate static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            default:
                let digits = String(scalar.value, radix: 16)
                quoted +=
                    scalar.value < 0x20
                    ? "\\u" + String(repeating: "0", count: 4 - digits.count) + digits : String(Character(scalar))
            }
        }
        return quoted + "\""
    }

    private static func version(_ version: HTTPVersion?) -> String {
        switch version {
        case .http1_0: "1.0"
        case .http1_1: "1.1"
        case .http2: "2"
        case .http3: "3"
        case .unknown, nil: "0"
        }
    }

    private static func rate(_ bytes: Int, _ elapsed: Duration) -> Int {
        let seconds = Format.number(of: elapsed)
        return seconds > 0 ? Int(min(Double(bytes) / seconds, 9e18)) : 0
    }
}
