internal import Synchronization

/// A call, as the interceptors receive it.
public struct Call: Sendable, Identifiable {
    /// The destination of the body.
    public enum Kind: Sendable, Hashable {
        /// The body is collected in memory.
        case send
        /// The body is read as a stream.
        case stream
        /// The body is written to the file at ``Request/savePath``.
        case save
        /// The call opens a WebSocket, and the response is that of the handshake. A response with another status than
        /// 101 has its body in memory.
        case webSocket
    }

    /// The number of the call, unique in the process. All transfers of the call have the same number.
    public let id: UInt64
    /// The request with an absolute URL and everything that the agent adds.
    public var request: Request<Bytes>
    /// The destination of the body.
    public let kind: Kind
    let watch: Watch?
    /// The request before its parameters were moved into the URL or the body; `nil` in a call that a test created.
    var origin: CallOrigin?
    /// The time limit of the whole call.
    var budget: TimeBudget

    /// Creates a call for a test.
    public init(_ request: Request<Bytes>, kind: Kind = .send) {
        self.init(request, kind: kind, watch: nil)
    }

    init(_ request: Request<Bytes>, kind: Kind, watch: Watch?, budget: TimeBudget? = nil) {
        id = watch?.id ?? request.transferHandle?.take() ?? CallNumber.next()
        self.request = request
        self.kind = kind
        self.watch = watch
        let own = self.request.takeBudget()
        self.budget = budget ?? own ?? TimeBudget(request.content.limitsStorage?.value.total)
    }

    /// Whether the end of the call will be reported to observers.
    public var isObserved: Bool { watch.map { !$0.isStopped } ?? false }

    /// Runs a closure after the caller has received the outcome of an ended call. For a request task, it runs after all
    /// listeners were notified. Otherwise it runs immediately.
    public func whenReceived(_ action: @escaping @Sendable () -> Void) {
        if let transferHandle = request.transferHandle, transferHandle.id == id, transferHandle.onEndReported(action) {
            return
        }
        action()
    }

    /// Whether the request's body can be sent again.
    var isRepeatable: Bool { request.body?.isRepeatable ?? true }
}

extension Call.Kind {
    /// Whether the limits of bodies in memory apply, and not those of streams. The limits of a WebSocket apply to its
    /// handshake.
    var isBounded: Bool { self == .send || self == .webSocket }
}

/// Creates the numbers of calls, from 1.
enum CallNumber {
    private static let last = Atomic<UInt64>(0)

    static func next() -> UInt64 {
        last.wrappingAdd(1, ordering: .relaxed).newValue
    }
}

/// An interceptor that is also called at the end of a call: after status, type and body were checked, and before the
/// caller receives the outcome.
public protocol CallEnding: Interceptor {
    /// Receives the outcome of a call. If this throws, the error replaces the outcome. An error that is not a
    /// ``NetError`` becomes ``NetError/Code/stoppedByCaller``.
    func willEnd(_ call: Call, _ outcome: Event.Outcome) async throws
}

extension [any Interceptor] {
    /// The interceptors that are observers too.
    var watching: [any Observer] { compactMap { $0 as? any Observer } }
    /// The interceptors that are called at the end of a call.
    var ending: [any CallEnding] { compactMap { $0 as? any CallEnding } }
}

/// The base URL of relative URLs.
struct URLBase: Sendable {
    /// The base URL. If `nil`, URLs are not joined to a base.
    var url: String?
    var keepsPath: Bool

    /// Returns the request's content as it is sent: with an absolute URL, and with its parameters in the URL or the
    /// body.
    func placing(_ original: RequestContent, with others: Parameters?) throws(NetError) -> RequestContent {
        var content = original
        try content.applyParameters(with: others)
        if let url, !(original.keepsDotSegments && content.hasAbsoluteURL) {
            content.url = try joinURL(content.url, to: url, keepsBasePath: keepsPath)
        }
        return content
    }
}

/// A request before its parameters were moved into the URL or the body. A call keeps it, so that interceptors can still
/// change the parameters.
final class CallOrigin: Sendable {
    let content: RequestStorage
    /// The parameters that agent and service add. The request's own parameters override them.
    let others: Parameters?
    let base: URLBase
    /// The URL of the request after the parameters were moved.
    let placedURL: String

    init(_ content: RequestStorage, others: Parameters?, base: URLBase, placedURL: String) {
        self.content = content
        self.others = others
        self.base = base
        self.placedURL = placedURL
    }
}

extension Call {
    /// The request's own parameters. Parameters that agent or service add are not included.
    public var parameters: Parameters? {
        origin.map { $0.content.value.optionalStorage?.value.parameters } ?? request.parameters
    }

    /// All parameters that are sent, including those that agent and service add.
    public var sentParameters: Parameters? {
        guard let parameters else { return origin?.others }
        return parameters.filled(from: origin?.others)
    }

    /// Whether the request's parameters are part of its body instead of the URL.
    public var hasParametersInBody: Bool { origin?.content.value.makesBodyOfParameters ?? true }

    /// Replaces the request's own parameters.
    ///
    /// Interceptors that change parameters must come before those that change the URL.
    ///
    /// - Throws: the errors of sending a request with these parameters. ``NetError/Code/usage`` if an interceptor has
    ///   changed the URL already.
    public mutating func setParameters(_ parameters: Parameters?) throws(NetError) {
        try apply(parameters, with: origin?.others)
    }

    /// Replaces all parameters, including those that agent and service add.
    mutating func setSentParameters(_ change: (Parameters?) async throws(NetError) -> Parameters?)
        async throws(NetError)
    {
        let (own, others) = split(try await change(sentParameters))
        try apply(own, with: others)
    }

    private mutating func keepParameters(_ select: (Parameters) -> Parameters) throws(NetError) {
        guard let sent = sentParameters else { return }
        let (own, others) = split(select(sent))
        try apply(own, with: others, keepsAddedQuery: true)
    }

    /// Splits new parameters into the request's own and those that agent and service add. If the request had no
    /// parameters of its own, the new ones count as additions, which may be sent in another part of the request.
    private func split(_ changed: Parameters?) -> (own: Parameters?, others: Parameters?) {
        // A plain `nil` would not be unambiguous here, because Parameters has a null value.
        let nothing = Parameters?.none
        guard let others = origin?.others else { return (changed, nothing) }
        guard let own = parameters else { return (nothing, changed) }
        return (changed, own.hasFields ? nothing : others)
    }

    /// Places other parameters in the URL or the body.
    ///
    /// - Parameter keepsAddedQuery: whether an interceptor may have extended the query. Its additions are then kept.
    private mutating func apply(
        _ own: Parameters?, with others: Parameters?, keepsAddedQuery: Bool = false
    ) throws(NetError) {
        guard let origin else {
            request.parameters = own
            return
        }
        let added = keepsAddedQuery ? request.url.query(addedTo: origin.placedURL) : ""
        guard let added, !added.isEmpty || request.url == origin.placedURL else {
            throw NetError(.usage, "the URL was changed before the parameters: change the parameters first")
        }
        var content = origin.content.value
        content.optionalSettings.parameters = own
        let placed = try origin.base.placing(content, with: others)
        let hasAppliedParameters = request.hasAppliedParameters
        request.url = added.isEmpty ? placed.url : placed.url.addingQuery(added)
        if hasAppliedParameters {
            request.markParametersApplied()
        }
        if content.makesBodyOfParameters {
            request.body = placed.body
        }
        self.origin = CallOrigin(RequestStorage(content), others: others, base: origin.base, placedURL: placed.url)
    }
}

extension Call {
    /// Returns the cache key of the request, with the parameters that ``Request/cacheKeyParameters`` selects, and with
    /// those that an interceptor has appended to the query.
    ///
    /// - Parameters:
    ///   - names: the names of the fields that are part of the key; other fields are ignored.
    ///   - scope: the owner of the response, such as a user's number. If empty, the response is shared.
    /// - Throws: ``NetError/Code/unsupported`` for a body that is created or read while it is sent, because its bytes
    ///   are not known before. If ``Request/cacheKeyParameters`` is set, also the errors of ``setParameters(_:)``.
    public func cacheKey(
        headers names: [String] = ["Accept", "Accept-Language", "Content-Type"], scope: String = ""
    ) throws(NetError) -> CacheKey {
        let storage = try requestForKey()
        let content = storage.value
        if let body = content.body, body.wholeBytes == nil {
            throw NetError(.unsupported, "a body that is not in memory (multipart, file or stream) has no cache key")
        }
        let sent = Request<Bytes>(storage, headers: request.headers, decoding: .bytes).sentFields
        let selected = sent.only(names)
        return try CacheKey(
            method: content.method, url: content.url, headers: Headers(selected + request.wayFields),
            body: content.body?.bytes, scope: scope)
    }

    /// Returns the request with only the parameters that ``Request/cacheKeyParameters`` selects, in the URL or the
    /// body.
    func requestForKey() throws(NetError) -> RequestStorage {
        guard request.hasOptions, let select = request.cacheKeyParameters else { return try request.placed() }
        var keyCall = self
        try keyCall.keepParameters(select)
        return try keyCall.request.placed()
    }
}

extension Call {
    /// Applies the transport's changes to the URL now, so that an interceptor that signs it sees the URL that is sent.
    public mutating func finalizeURL() throws(NetError) {
        let url = request.url
        guard !request.keepsDotSegments, url.utf8.contains(where: { $0 >= 0x80 }) || url.firstRange(of: "/.") != nil
        else { return }
        let hasAppliedParameters = request.hasAppliedParameters
        request.url = try joinURL(url, to: url, keepsBasePath: false)
        if hasAppliedParameters {
            request.markParametersApplied()
        }
    }
}

extension String {
    /// Returns the text that this URL has in its query after `url`. It is empty if both are equal, and `nil` if they
    /// differ in another way.
    fileprivate func query(addedTo url: String) -> Substring? {
        guard utf8.starts(with: url.utf8) else { return nil }
        let added = utf8.dropFirst(url.utf8.count)
        let mark = url.utf8.contains(UInt8(ascii: "?")) ? UInt8(ascii: "&") : UInt8(ascii: "?")
        guard !added.isEmpty else { return "" }
        return added.first == mark && !url.utf8.contains(UInt8(ascii: "#")) ? Substring(added.dropFirst()) : nil
    }

    /// Returns the URL, which has no fragment, with a text appended to its query.
    fileprivate func addingQuery(_ text: Substring) -> String {
        "\(self)\(utf8.contains(UInt8(ascii: "?")) ? "&" : "?")\(text)"
    }
}
