import NetKit

/// The request for one URL of a command line, and the properties of its body.
struct TransferRequest {
    private(set) var request: Request<Bytes>
    /// The length of the body. `nil` if there is no body, or if its length is unknown before it is read.
    private var bodyBytes: Int?
    /// The name of the uploaded file, for the progress line.
    private(set) var uploadName: String?

    private let arguments: Arguments
    private let job: Job

    init(_ job: Job, of arguments: Arguments) throws(Failure) {
        self.job = job
        self.arguments = arguments
        request = Request(job.url)
        if URLText(job.url).loginContainsDelimiter {
            // The error is thrown here, because the error of the library would contain the text before "@", which may
            // be a password.
            throw Failure(
                ExitCode.badURL,
                "the URL's port is not a number; write '/', '?' and '#' in a password as %2F, %3F and %23")
        }
        if arguments.refusesPlain && URLText(job.url).scheme.lowercased().hasPrefix("http:") {
            throw Failure(ExitCode.badScheme, "the URL uses http, which --proto excludes; use https")
        }
        let body = try body()
        let defaultMethod = arguments.usesHeadMethod ? "HEAD" : job.upload != nil ? "PUT" : body != nil ? "POST" : "GET"
        request = Request(
            try url(), method: Method(rawValue: arguments.method ?? defaultMethod), headers: try headers(), body: body)
        request.limits = limits
        request.redirects = arguments.followsRedirects ? .follow : .return
        request.trust = try arguments.trust.policy(
            for: request.url, authorities: arguments.authorityFile, isInsecure: arguments.isInsecure,
            identity: arguments.identity)
        request.httpVersionPolicy = arguments.httpVersionPolicy
        request.acceptsCodings = arguments.isCompressed && !arguments.removesField("Accept-Encoding")
        request.acceptsTransferCodings = arguments.isTransferCompressed && !arguments.removesField("TE")
        request.addressOverrides = ResolvedNames(arguments.resolved)
            .lookedUp(through: arguments.proxy?.url, except: arguments.unproxied)
            .overrides(behind: arguments.connections)
        request.keepsDotSegments = arguments.keepsDotSegments
        request.omitsZeroLength = true  // as in curl: -d '' sends Content-Length: 0
        request.unixSocket = arguments.unixSocket
        request.serviceClass = arguments.serviceClass
        request.credentials = credentials ?? .inherited
        request.proxy = proxy ?? .inherited
        request.caching = arguments.cache.rules
        if let expected = arguments.expectedBody {
            request = request.expecting(try expected.expectation())
        }
    }

    /// The Content-Type of the form, which -H cannot change. `nil` if there is no form.
    var formType: String? { arguments.form.isEmpty ? nil : request.body?.contentType }

    /// The value of Content-Length, or `nil` if the field is not sent.
    var announcedBytes: Int? { sendsChunks ? nil : bodyBytes }

    /// Returns the URL to request, with the query of -G.
    private func url() throws(Failure) -> String {
        let url = removesLogin ? URLText(targetURL).withoutLogin : targetURL
        guard arguments.sendsDataInURL, let data = arguments.sentData else { return url }
        do throws(NetError) {
            guard let text = String(validating: data, as: UTF8.self) else {
                throw NetError(.usage, "the data is not UTF-8")
            }
            return try QueryEncoding { _ in text }.url(
                text.isEmpty ? url : Self.withoutTrailingAmpersand(url), with: [:])
        } catch {
            throw Failure(ExitCode.usage, "-G: \(error.message); use --data-urlencode to encode it")
        }
    }

    /// Returns the URL without an "&" at the end of its query, so that more can be appended.
    private static func withoutTrailingAmpersand(_ url: String) -> String {
        let (front, fragment) = (url.prefix { $0 != "#" }, url.drop { $0 != "#" })
        return front.contains("?") && front.hasSuffix("&") ? String(front.dropLast() + fragment) : url
    }

    /// The URL of the command line. If it ends in "/" and a file is uploaded, the name of the file is appended.
    private var targetURL: String {
        guard let upload = job.upload, upload != "-" else { return job.url }
        let url = URLText(job.url)
        let (path, target) = (url.path.unicodeScalars, url.target.unicodeScalars)
        guard path.count == target.count, path.isEmpty || path.last == "/" else { return job.url }
        let name = Percent.encoded(upload.unicodeScalars.split(separator: "/").last.map { String($0) } ?? "")
        let fragment = String(job.url.unicodeScalars.drop { $0 != "#" })
        let folder = String(job.url.unicodeScalars.prefix { $0 != "#" })
        return folder + (path.isEmpty ? "/" : "") + name + fragment
    }

    /// Returns the default fields of curl, with the changes of -H.
    private func headers() throws(Failure) -> Headers {
        let sendsJSON = arguments.data.contains { $0.isJSON }
        var headers = Headers()
        let userAgent = arguments.userAgent ?? "nk/\(Versions.nk)"
        if !userAgent.isEmpty {
            headers.append(name: "User-Agent", value: userAgent)
        }
        headers.append(name: "Accept", value: sendsJSON ? "application/json" : "*/*")
        if let referer = arguments.referer {
            headers.append(name: "Referer", value: referer)
        }
        if !arguments.data.isEmpty && !arguments.sendsDataInURL {
            headers.append(
                name: "Content-Type", value: sendsJSON ? "application/json" : "application/x-www-form-urlencoded")
        }
        if !arguments.cookies.isEmpty {
            headers.append(name: "Cookie", value: arguments.cookies.joined(separator: "; "))
        }
        if let range = arguments.range {
            headers.append(name: "Range", value: "bytes=\(range)")
        }
        if let condition = arguments.condition {
            headers.append(name: condition.name, value: condition.value)
        }
        if let condition = arguments.etagCondition {
            headers.append(condition)
        }
        let changes = arguments.changes
        for change in changes {
            switch change {
            case .remove(let name): headers[name] = nil
            case .send(let field): headers[field.name] = nil
            }
        }
        for case .send(let field) in changes {
            headers.append(field)
        }
        if sendsChunks {
            // The library adds this field itself, because the body is passed to it without a length.
            headers["Transfer-Encoding"] = nil
        }
        return headers
    }

    /// Whether the body is sent chunked because of -H 'Transfer-Encoding: chunked'. With --curl this is false and the
    /// field is kept, because it makes curl send chunks.
    private var sendsChunks: Bool {
        let hasData = !arguments.data.isEmpty && !arguments.sendsDataInURL
        guard job.upload != nil || hasData, !arguments.printsCurl else { return false }
        let codings = arguments.changes.compactMap { change -> String? in
            guard case .send(let field) = change, field.name.lowercased() == "transfer-encoding" else { return nil }
            return field.value.lowercased()
        }
        return !codings.isEmpty && codings.allSatisfy { $0 == "chunked" }
    }

    private mutating func body() throws(Failure) -> Body? {
        if let upload = job.upload {
            return try self.upload(of: upload)
        }
        if !arguments.form.isEmpty {
            let form = try FormField.body(of: arguments.form)
            bodyBytes = form.length
            return form.body
        }
        guard !arguments.sendsDataInURL, let bytes = arguments.sentData else { return nil }
        bodyBytes = bytes.count
        guard sendsChunks else { return Body(Bytes(bytes)) }
        return .stream {
            AsyncStream { sent in
                sent.yield(bytes)
                sent.finish()
            }
        }
    }

    private mutating func upload(of path: String) throws(Failure) -> Body {
        do throws(SystemError) {
            uploadName = path == "-" ? "standard input" : path
            if let length = try InputFile.length(of: path) {
                bodyBytes = length
                return sendsChunks ? .stream { FileChunks(path: path) } : .file(path)
            }
            return .once(try InputChunks(path))
        } catch {
            throw Failure(reading: error, from: path)
        }
    }

    /// The limits of the library, except those that a user of curl would not expect. A body may have any size and
    /// duration, and --max-time replaces the limits of waiting.
    private var limits: Limits {
        var limits = Limits.streaming
        limits.total = arguments.totalLimit
        limits.slot = nil
        limits.maxBodyBytes = arguments.maxBodyBytes
        limits.maxRedirects = arguments.maxRedirects
        limits.maxSendBytesPerSecond = arguments.bytesPerSecond
        limits.maxReceiveBytesPerSecond = arguments.bytesPerSecond
        if let connect = arguments.connectLimit {
            limits.connect = connect
        }
        if arguments.totalLimit != nil {
            limits.firstByte = nil
            limits.idle = nil
        }
        return limits
    }

    // MARK: Credentials

    /// Whether -H 'Authorization:' removes the credentials. It removes only credentials that would be sent without a
    /// challenge, because only those are a default field.
    private var removesLogin: Bool { arguments.removesField("Authorization") && !waitsForChallenge }

    /// Whether the credentials are sent only after a challenge of the server.
    private var waitsForChallenge: Bool { arguments.usesDigest || arguments.usesAnyMethod }

    /// Whether a name and a password are sent without a challenge, and no field of -H replaces them.
    var sendsLogin: Bool {
        let hasLogin = request.effectiveCredentials != nil || URLText(request.url).login != nil
        return hasLogin && !waitsForChallenge && request.headers["Authorization"] == nil
    }

    private var credentials: Credentials? {
        if removesLogin {
            return nil
        }
        if let token = arguments.token {
            return .bearer(token)
        }
        guard let login = arguments.login ?? (waitsForChallenge ? Verbose.login(in: job.url) : nil) else {
            return nil
        }
        let password = login.password ?? ""
        if arguments.usesAnyMethod {
            return .any(user: login.user, password: password)
        }
        return arguments.usesDigest
            ? .digest(user: login.user, password: password) : .basic(user: login.user, password: password)
    }

    private var proxy: Proxy? {
        guard let address = arguments.proxy else { return nil }
        let url = address.url.map(ResolvedNames(arguments.resolved).addressed)
        return ProxyAddress(url: url, login: address.login).proxy(
            arguments.proxyLogin, bypass: arguments.unproxied, headers: arguments.proxyFields,
            usesTunnel: arguments.usesTunnel)
    }

    /// Returns true if a proxy has forwarded the request of a hop.
    func isForwarded(_ hop: HopMetrics) -> Bool {
        let url = URLText(hop.url)
        let proxyScheme = arguments.proxy?.url.map { URLText($0).scheme.lowercased() }
        guard let proxyScheme, proxyScheme.hasPrefix("http"), url.scheme.lowercased() == "http://",
            !arguments.usesTunnel
        else {
            return false
        }
        // If --noproxy matches a network prefix, the connection's remote address shows that the proxy was bypassed.
        let port = UInt16(url.hostAndPort.dropFirst(url.host.count + 1)) ?? 80
        let isDirect = hop.remotePort == port && [hop.remoteAddress, "[\(hop.remoteAddress)]"].contains(url.host)
        return !isDirect && !ResolvedNames.isNamed(url.host, in: arguments.unproxied)
    }

    /// The line that -v prints about the proxy.
    var proxyMessage: String? {
        guard let url = arguments.proxy?.url else { return nil }
        let hasLogin = arguments.proxyLogin != nil || arguments.proxy?.login != nil
        let fields = arguments.proxyFields.map { Verbose.shown($0.name, $0.value) }
        let visibleFields = (hasLogin ? ["credentials [hidden]"] : []) + fields
        return "through \(url)" + (visibleFields.isEmpty ? "" : " (\(visibleFields.joined(separator: ", ")))")
    }
}
