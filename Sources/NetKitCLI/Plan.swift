import NetKit

/// The request for one URL of a command line, and the properties of its body.
struct Plan {
    private(set) var request: Request<Bytes>
    /// The length of the body. `nil` without a body, or if it is unknown before the body is read.
    private var bodyBytes: Int?
    /// The name of the sent file.
    private(set) var uploadName: String?

    private let arguments: Arguments
    private let job: Job

    init(_ job: Job, of arguments: Arguments) throws(Failure) {
        self.job = job
        self.arguments = arguments
        request = Request(job.url)
        if WrittenURL(job.url).loginIsCut {
            // The library's error would show the text before "@".
            throw Failure(
                ExitCode.badURL, "the URL's port is no number; '/', '?' and '#' of a password are %2F, %3F and %23")
        }
        if arguments.refusesPlain && WrittenURL(job.url).scheme.lowercased().hasPrefix("http:") {
            throw Failure(ExitCode.badScheme, "--proto leaves http out")
        }
        let body = try body()
        let standard = arguments.asksForHead ? "HEAD" : job.upload != nil ? "PUT" : body != nil ? "POST" : "GET"
        request = Request(
            try url(), method: Method(rawValue: arguments.method ?? standard), headers: try headers(), body: body)
        request.limits = limits
        request.redirects = arguments.followsRedirects ? .follow : .return
        request.trust = try arguments.trust.policy(
            for: request.url, authorities: arguments.authorityFile, isInsecure: arguments.isInsecure,
            identity: arguments.identity)
        request.protocolChoice = arguments.protocolChoice
        request.acceptsCodings = arguments.isCompressed && !arguments.leavesOut("Accept-Encoding")
        request.addressOverrides = ResolvedNames(arguments.resolved)
            .lookedUp(through: arguments.proxy?.url, except: arguments.unproxied)
            .overrides(behind: arguments.connections)
        request.keepsDotSegments = arguments.keepsDotSegments
        request.omitsZeroLength = true  // as in curl: -d '' sends Content-Length: 0
        request.unixSocket = arguments.unixSocket
        request.serviceClass = arguments.serviceClass
        request.credentials = credentials
        request.proxy = proxy
        request.caching = arguments.cache.rules
        if let path = arguments.shapePath {
            request = request.expecting(try ValidateCommand.shape(in: path))
        }
    }

    /// The Content-Type of a form, which -H does not change; `nil` without a form.
    var formType: String? { arguments.form.isEmpty ? nil : request.body?.contentType }

    /// The value of Content-Length, or `nil` if it is not sent.
    var announcedBytes: Int? { sendsChunks ? nil : bodyBytes }

    /// The URL with the query of -G.
    private func url() throws(Failure) -> String {
        let place = hidesLogin ? WrittenURL(place).withoutLogin : place
        guard arguments.sendsDataInURL, let data = arguments.sentData else { return place }
        do throws(NetError) {
            guard let text = String(validating: data, as: UTF8.self) else {
                throw NetError(.usage, "what is to be sent is not UTF-8")
            }
            return try QueryEncoding { _ in text }.url(text.isEmpty ? place : Self.joinable(place), with: [:])
        } catch {
            throw Failure(ExitCode.usage, "-G: \(error.message); --data-urlencode escapes it")
        }
    }

    /// The URL without a trailing "&" in its query, before more is appended.
    private static func joinable(_ url: String) -> String {
        let (front, fragment) = (url.prefix { $0 != "#" }, url.drop { $0 != "#" })
        return front.contains("?") && front.hasSuffix("&") ? String(front.dropLast() + fragment) : url
    }

    /// A file that is sent to a URL ending in "/" keeps its name.
    private var place: String {
        guard let upload = job.upload, upload != "-" else { return job.url }
        let written = WrittenURL(job.url)
        let (path, target) = (written.path.unicodeScalars, written.target.unicodeScalars)
        guard path.count == target.count, path.isEmpty || path.last == "/" else { return job.url }
        let name = Percent.encoded(upload.unicodeScalars.split(separator: "/").last.map { String($0) } ?? "")
        let fragment = String(job.url.unicodeScalars.drop { $0 != "#" })
        let folder = String(job.url.unicodeScalars.prefix { $0 != "#" })
        return folder + (path.isEmpty ? "/" : "") + name + fragment
    }

    /// curl's default fields, with the changes of -H.
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
        let changes = arguments.changes
        for change in changes {
            switch change {
            case .leaveOut(let name): headers[name] = nil
            case .send(let field): headers[field.name] = nil
            }
        }
        for case .send(let field) in changes {
            headers.append(field)
        }
        if sendsChunks {
            // The library adds the field itself, because the length is unknown to it.
            headers["Transfer-Encoding"] = nil
        }
        return headers
    }

    /// Whether -H 'Transfer-Encoding: chunked' is given for a body. With --curl the field is kept, because it makes
    /// curl send chunks.
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
                return sendsChunks ? .stream { FilePieces(path: path) } : .file(path)
            }
            return .once(try InputPieces(path))
        } catch {
            throw Failure(reading: error, from: path)
        }
    }

    /// The library's limits, except those that would surprise a user of curl. A body may have any size and duration,
    /// and --max-time replaces the limits of waiting.
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

    /// -H 'Authorization:' omits credentials that would be sent without a challenge. An authorization response to a
    /// challenge is not a default field.
    private var hidesLogin: Bool { arguments.leavesOut("Authorization") && !arguments.usesDigest }

    /// Whether a name and a password are sent without a challenge. A field of -H replaces them.
    var showsLogin: Bool {
        let hasLogin = request.credentials != nil || WrittenURL(request.url).login != nil
        return hasLogin && !arguments.usesDigest && request.headers["Authorization"] == nil
    }

    private var credentials: Credentials? {
        if hidesLogin {
            return nil
        }
        if let token = arguments.token {
            return .bearer(token)
        }
        guard let login = arguments.login ?? (arguments.usesDigest ? Verbose.login(in: job.url) : nil) else {
            return nil
        }
        let password = login.password ?? ""
        return arguments.usesDigest
            ? .digest(user: login.user, password: password) : .basic(user: login.user, password: password)
    }

    private var proxy: Proxy? {
        guard let place = arguments.proxy else { return nil }
        let url = place.url.map(ResolvedNames(arguments.resolved).addressed)
        return ProxyPlace(url: url, login: place.login).proxy(
            arguments.proxyLogin, except: arguments.unproxied, headers: arguments.proxyFields,
            usesTunnel: arguments.usesTunnel)
    }

    /// Whether a hop's request is forwarded by a proxy.
    func isForwarded(_ hop: HopMetrics) -> Bool {
        let url = WrittenURL(hop.url)
        let way = arguments.proxy?.url.map { WrittenURL($0).scheme.lowercased() }
        guard let way, way.hasPrefix("http"), url.scheme.lowercased() == "http://", !arguments.usesTunnel else {
            return false
        }
        // Whether --noproxy matches an address is visible in the connection's remote address.
        let port = UInt16(url.place.dropFirst(url.host.count + 1)) ?? 80
        let isDirect = hop.remotePort == port && [hop.remoteAddress, "[\(hop.remoteAddress)]"].contains(url.host)
        return !isDirect && !ResolvedNames.isNamed(url.host, in: arguments.unproxied)
    }

    /// The line of -v about the proxy.
    var proxyNote: String? {
        guard let url = arguments.proxy?.url else { return nil }
        let hasLogin = arguments.proxyLogin != nil || arguments.proxy?.login != nil
        let fields = arguments.proxyFields.map { Verbose.shown($0.name, $0.value) }
        let told = (hasLogin ? ["credentials [hidden]"] : []) + fields
        return "through \(url)" + (told.isEmpty ? "" : " (\(told.joined(separator: ", ")))")
    }
}
