/// The way in which a server divides a list into pages: how a page is requested, and how the next one is found.
///
///     .number()                                       // ?page=1&per_page=20, until a page is not full
///     .offset(size: "limit", total: { $0.value.total }) { $0.items.count }
///     .cursor("after") { $0.value.nextCursor }        // a cursor in the preceding page
///     .link()                                         // the `Link` field, rel="next" (RFC 8288)
public struct PageStyle<Value: Sendable>: Sendable {
    /// The position of a page to load.
    struct Position: Sendable {
        /// The number of the page, from 1.
        var number = 1
        /// The number of items on the preceding pages.
        var offset = 0
        /// The number of items that the caller requests on a page; `nil` if it leaves this to the request and the
        /// style.
        var size: Int?
        /// The number of items on a full page; `nil` if it is unknown.
        var fullCount: Int?
        /// The cursor or URL of the page; `nil` for the first page.
        var token: String?
    }

    /// The page after the current one.
    enum Next: Sendable {
        /// Another page follows.
        case page(Position)
        /// The current page is the last.
        case end
        /// The current page is empty, so the preceding page was the last.
        case none
    }

    /// The number of items to request, if neither the caller nor the request sets one.
    static var defaultSize: Int { 20 }

    /// The name of the parameter for the requested number of items.
    private let size: String?
    /// Changes the request to that of a page. The last argument is the number of items to request; `nil` for none.
    private let prepare: @Sendable (inout Request<Value>, Position, Int?) -> Void
    private let next: @Sendable (Response<Value>, Position) throws(NetError) -> Next
    /// The name of the parameter for the page's number or offset. A server that ignores it returns the same page again.
    let counter: String?

    /// Returns the request of a page, and the position with the number of items on a full page. A size that the caller
    /// sets replaces the one of the request.
    func request(_ request: Request<Value>, at position: Position) -> (Request<Value>, Position) {
        var (request, position) = (request, position)
        if position.size == nil, let own = size.flatMap({ request.ownText(named: $0) }) {
            position.fullCount = Int(own)
            prepare(&request, position, nil)
        } else {
            let number = size == nil ? nil : position.size ?? Self.defaultSize
            position.fullCount = number
            prepare(&request, position, number)
        }
        return (request, position)
    }

    func pageAfter(_ response: Response<Value>, at position: Position) throws(NetError) -> Next {
        try next(response, position)
    }
}

extension PageStyle {
    /// Pages that are requested by their number.
    ///
    /// If `total` returns a number, the last page is the one that reaches it. Otherwise the last page is the first one
    /// with fewer items than requested, or the one before an empty page. The empty page is not returned.
    /// - Parameters:
    ///   - name: the name of the parameter for the page's number.
    ///   - first: the server's number of the first page.
    ///   - size: the name of the parameter for the requested number of items. If `nil`, it is not sent, and the list
    ///     does not end at a page with fewer items. If the request already has this parameter, its value is sent unless
    ///     the caller of ``RequestSender/pages(of:by:size:)`` sets a size.
    ///   - total: returns the number of items on all pages, if the response contains it.
    ///   - count: returns the number of items on a page.
    public static func number(
        _ name: String = "page", from first: Int = 1, size: String? = "per_page",
        total: (@Sendable (Response<Value>) -> Int?)? = nil, count: @escaping @Sendable (Value) -> Int
    ) -> PageStyle {
        PageStyle(
            size: size,
            prepare: { request, position, number in
                request.set(name, (position.number - 1).addingSaturated(first))
                request.set(size, number)
            }, next: counting(total, count), counter: name)
    }

    /// Pages that are requested by the number of preceding items. The last page is found as with
    /// ``number(_:from:size:total:count:)``.
    ///
    /// - Parameters:
    ///   - name: the name of the parameter for the number of preceding items.
    ///   - size: the name of the parameter for the requested number of items. If `nil`, it is not sent.
    ///   - total: returns the number of items on all pages, if the response contains it.
    ///   - count: returns the number of items on a page.
    public static func offset(
        _ name: String = "offset", size: String? = "limit", total: (@Sendable (Response<Value>) -> Int?)? = nil,
        count: @escaping @Sendable (Value) -> Int
    ) -> PageStyle {
        PageStyle(
            size: size,
            prepare: { request, position, number in
                request.set(name, position.offset)
                request.set(size, number)
            }, next: counting(total, count), counter: name)
    }

    /// Pages that are requested by a cursor from the preceding page.
    ///
    /// - Parameters:
    ///   - name: the name of the parameter for the cursor. The first request has none.
    ///   - size: the name of the parameter for the requested number of items. If `nil`, it is not sent.
    ///   - next: returns the cursor of the next page. If it returns `nil` or "", the list ends.
    public static func cursor(
        _ name: String = "cursor", size: String? = nil, next: @escaping @Sendable (Response<Value>) -> String?
    ) -> PageStyle {
        PageStyle(
            size: size,
            prepare: { request, position, number in
                request.set(size, number)
                if let token = position.token {
                    request.set(name, .string(token))
                }
            },
            next: { response, position in
                guard let token = next(response), !token.isEmpty else { return .end }
                return .page(position.following(token: token))
            }, counter: nil)
    }

    /// Pages whose URLs are in the preceding response, in a `Link` field with rel="next" (RFC 8288).
    ///
    /// The request's own parameters are not added to such a URL. The agent's parameters are added if the URL does not
    /// contain them. If the URL has another origin than the first page, the next load throws
    /// ``NetError/Code/redirectRefused``, because the request's credentials must not be sent there.
    /// - Parameter size: the name of the first request's parameter for the requested number of items. If `nil`, it is
    ///   not sent.
    public static func link(size: String? = nil) -> PageStyle {
        PageStyle(
            size: size,
            prepare: { request, position, number in
                guard let url = position.token else { return request.set(size, number) }
                request.url = url
                request.query = [:]
                // Parameters in the body are kept, because the link replaces only those in the query.
                if !request.content.makesBodyOfParameters {
                    request.parameters = nil
                    request.parameterSource = nil
                    request.isServerControlledURL = true
                }
            },
            next: { (response, position) throws(NetError) in
                guard let url = try response.link("next") else { return .end }
                guard url.hasSameOrigin(as: response.metrics.first?.url ?? "") else {
                    throw NetError(
                        .redirectRefused, "the next page is at another origin: \(shownPageToken(url))",
                        response: response.bare)
                }
                return .page(position.following(token: url))
            }, counter: nil)
    }

    private static func counting(
        _ total: (@Sendable (Response<Value>) -> Int?)?, _ count: @escaping @Sendable (Value) -> Int
    ) -> @Sendable (Response<Value>, Position) throws(NetError) -> Next {
        { response, position in
            let count = count(response.value)
            if count <= 0 {
                return position.number > 1 ? .none : .end
            }
            let isLast =
                if let total = total?(response) {
                    position.offset.addingSaturated(count) >= total
                } else {
                    position.fullCount.map { count < $0 } ?? false
                }
            return isLast ? .end : .page(position.following(count: count))
        }
    }
}

extension PageStyle where Value: Collection {
    /// Pages that are requested by their number, for a value that is the collection of items; see
    /// ``number(_:from:size:total:count:)``.
    public static func number(
        _ name: String = "page", from first: Int = 1, size: String? = "per_page",
        total: (@Sendable (Response<Value>) -> Int?)? = nil
    ) -> PageStyle {
        number(name, from: first, size: size, total: total) { $0.count }
    }

    /// Pages that are requested by the number of preceding items, for a value that is the collection of items; see
    /// ``offset(_:size:total:count:)``.
    public static func offset(
        _ name: String = "offset", size: String? = "limit", total: (@Sendable (Response<Value>) -> Int?)? = nil
    ) -> PageStyle {
        offset(name, size: size, total: total) { $0.count }
    }
}

extension PageStyle.Position {
    fileprivate func following(count: Int = 0, token: String? = nil) -> Self {
        var position = self
        position.number += 1
        position.offset = position.offset.addingSaturated(count)
        position.token = token
        return position
    }
}

extension Request {
    /// The text of one of the request's own parameters; `nil` if there is none, and empty if it has no text.
    fileprivate func ownText(named name: String) -> String? {
        switch query[name] ?? parameters?[name] {
        case .integer(let number): "\(number)"
        case .string(let text), .number(let text): text
        case .null, nil: url.queryPairs.first { $0.name == name }?.value
        case .some: ""
        }
    }

    fileprivate mutating func set(_ name: String?, _ number: Int?) {
        guard let name, let number else { return }
        set(name, .integer(Int64(number)))
    }

    fileprivate mutating func set(_ name: String, _ value: Parameters) {
        url = url.withoutQueryPairs(named: name)
        if query[name] != nil {
            query[name] = value
            return
        }
        parameters = parameters ?? .object([])
        parameters?[name] = value
    }
}

extension Response {
    /// The response with its undecoded body as the value, for ``NetError/response``.
    var bare: Response<Bytes> { map { $0.bytes } }
}

/// One page of a list.
public struct Page<Value: Sendable>: Sendable {
    /// The response that contains the page.
    public let response: Response<Value>
    /// The number of the page, from 1. The numbers of the server may be different.
    public let number: Int
    /// Whether no further page is known.
    public let isLast: Bool

    /// The page's value.
    public var value: Value { response.value }
    /// Whether it is the first page.
    public var isFirst: Bool { number == 1 }
}
