import NetKit

/// The request that one URL of a command line makes, and what is known of its body.
struct Plan {
    private(set) var request: Request<Bytes>
    /// The body's length; nil without a body, and when only reading tells.
    private var bodyBytes: Int?
    /// The name of the file that is sent.
    private(set) var uploadName: String?

    private let arguments: Arguments
    private let job: Job

    init(_ job: Job, of arguments: Arguments) throws(Failure) {
        self.job = job
        self.arguments = arguments
        request = Request(job.url)
        if WrittenURL(job.url).loginIsCut {
            // The library would tell what stands before the mark.
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
        request.omitsZeroLength = true  // as curl does: -d '' announces one
        request.unixSocket = arguments.unixSocket
        request.serviceClass = arguments.serviceClass
        request.credentials = credentials
        request.proxy = proxy
        request.caching = arguments.cache.rules
        if let path = arguments.shapePath {
            request = request.expecting(try ValidateCommand.shape(in: path))
        }
    }

    /// The Content-Type of a form, which -H does not change; nil without one.
    var formType: String? { arguments.form.isEmpty ? nil : request.body?.contentType }

    /// What Content-Length says; nil where nothing does.
    var announcedBytes: Int? { sendsChunks ? nil : bodyBytes }

    /// With what -G puts into its query.
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

    /// Without the "&" at the end of the query, where one is put before more.
    private static func joinable(_ url: String) -> String {
        let (front, fragment) = (url.prefix { $0 != "#" }, url.drop { $0 != "#" })
        return front.contains("?") && front.hasSuffix("&") ? String(front.dropLast() + fragment) : url
    }

    /// A file that is sent to a folder keeps its name.
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

    /// curl's defaults, and over them what -H says.
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
            // The library sets it by itself, as it knows no length.
            headers["Transfer-Encoding"] = nil
        }
        return headers
    }

    /// Whether -H 'Transfer-Encoding: chunked' is said of a body that has a length, or has none. To curl its own field is
    /// what asks for chunks, so that --curl leaves it.
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

    /// The library's limits stay, but for those that would surprise a user of curl: a body may have any size and take
    /// its time, and --max-time alone rules where it is given.
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

    // MARK: Who asks

    /// -H 'Authorization:' leaves out what would be shown at once; an answer to a challenge is none of the defaults.
    private var hidesLogin: Bool { arguments.leavesOut("Authorization") && !arguments.usesDigest }

    /// Whether a name and a password are sent unasked; a field of -H takes their place.
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

    /// Whether a proxy is asked to hand a hop's request on.
    func isForwarded(_ hop: HopMetrics) -> Bool {
        let url = WrittenURL(hop.url)
        let way = arguments.proxy?.url.map { WrittenURL($0).scheme.lowercased() }
        guard let way, way.hasPrefix("http"), url.scheme.lowercased() == "http://", !arguments.usesTunnel else {
            return false
        }
        // What --noproxy says of addresses is known by where the connection went.
        let port = UInt16(url.place.dropFirst(url.host.count + 1)) ?? 80
        let isDirect = hop.remotePort == port && [hop.remoteAddress, "[\(hop.remoteAddress)]"].contains(url.host)
        return !isDirect && !ResolvedNames.isNamed(url.host, in: arguments.unproxied)
    }

    /// What -v tells of it.
    var proxyNote: String? {
        guard let url = arguments.proxy?.url else { return nil }
        let hasLogin = arguments.proxyLogin != nil || arguments.proxy?.login != nil
        let fields = arguments.proxyFields.map { Verbose.shown($0.name, $0.value) }
        let told = (hasLogin ? ["credentials [hidden]"] : []) + fields
        return "through \(url)" + (told.isEmpty ? "" : " (\(told.joined(separator: ", ")))")
    }
}
