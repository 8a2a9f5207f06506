/// How a server divides a list into pages: how a page is requested, and how the next one is found.
///
///     .number()                                       // ?page=1&per_page=20, as long as pages are full
///     .offset(size: "limit", total: { $0.value.total }) { $0.items.count }
///     .cursor("after") { $0.value.nextCursor }        // a cursor in the preceding page
///     .link()                                         // the `Link` field, rel="next" (RFC 8288)
public struct PageStyle<Value: Sendable>: Sendable {
    /// The position of a page to load.
    struct Place: Sendable {
        /// Counted from 1.
        var number = 1
        /// The number of items on the preceding pages.
        var offset = 0
        /// The requested number of items.
        var size: Int
        /// The page's cursor or URL; `nil` for the first page.
        var token: String?
    }

    /// The page after the current one.
    enum Next: Sendable {
        /// Another page follows.
        case page(Place)
        /// The current page is the last.
        case end
        /// The current page is empty, so the preceding one was the last.
        case none
    }

    private let ask: @Sendable (inout Request<Value>, Place) -> Void
    private let next: @Sendable (Response<Value>, Place) throws(NetError) -> Next
    /// The parameter with the page's position, which a server may ignore.
    let counter: String?

    func request(_ request: Request<Value>, at place: Place) -> Request<Value> {
        var request = request
        ask(&request, place)
        return request
    }

    func after(_ response: Response<Value>, at place: Place) throws(NetError) -> Next {
        try next(response, place)
    }
}

extension PageStyle {
    /// Pages that are requested by number.
    ///
    /// The last page is the one that reaches `total`. Without a total it is the first page that is shorter than
    /// requested, or the one before an empty page. The empty page is omitted.
    /// - Parameters:
    ///   - name: the parameter with the page's number.
    ///   - first: the first page's number.
    ///   - size: the parameter with the requested number of items. If `nil`, it is not sent, and no page is considered
    ///     short.
    ///   - total: returns the number of items on all pages, if the response contains it.
    ///   - count: returns the number of items on a page.
    public static func number(
        _ name: String = "page", from first: Int = 1, size: String? = "per_page",
        total: (@Sendable (Response<Value>) -> Int?)? = nil, count: @escaping @Sendable (Value) -> Int
    ) -> PageStyle {
        PageStyle(
            ask: { request, place in
                request.set(name, (place.number - 1).addingSaturated(first))
                request.set(size, place.size)
            }, next: counting(isSized: size != nil, total, count), counter: name)
    }

    /// Pages that are requested by the number of preceding items. Otherwise as ``number(_:from:size:total:count:)``.
    ///
    /// - Parameters:
    ///   - name: the parameter with the number of preceding items.
    ///   - size: the parameter with the requested number of items; `nil` sends none.
    ///   - total: returns the number of items on all pages, if the response contains it.
    ///   - count: returns the number of items on a page.
    public static func offset(
        _ name: String = "offset", size: String? = "limit", total: (@Sendable (Response<Value>) -> Int?)? = nil,
        count: @escaping @Sendable (Value) -> Int
    ) -> PageStyle {
        PageStyle(
            ask: { request, place in
                request.set(name, place.offset)
                request.set(size, place.size)
            }, next: counting(isSized: size != nil, total, count), counter: name)
    }

    /// Pages that are requested by a cursor from the preceding page.
    ///
    /// - Parameters:
    ///   - name: the parameter with the cursor; the first request has none.
    ///   - size: the parameter with the requested number of items; `nil` sends none.
    ///   - next: returns the cursor of the next page; `nil` or "" ends the list.
    public static func cursor(
        _ name: String = "cursor", size: String? = nil, next: @escaping @Sendable (Response<Value>) -> String?
    ) -> PageStyle {
        PageStyle(
            ask: { request, place in
                request.set(size, place.size)
                if let token = place.token {
                    request.parameters = request.parameters ?? .object([])
                    request.parameters?[name] = .string(token)
                }
            },
            next: { response, place in
                guard let token = next(response), !token.isEmpty else { return .end }
                return .page(place.following(token: token))
            }, counter: nil)
    }

    /// Pages that are found by the `Link` field with rel="next" of the preceding response (RFC 8288).
    ///
    /// The URL is used without the request's own parameters. The agent's parameters are added if the URL does not
    /// contain them. If a link has another origin than the first page, the next load throws
    /// ``NetError/Code/redirectRefused``. The request's credentials are not meant for that origin.
    /// - Parameter size: the first request's parameter with the requested number of items; `nil` sends none.
    public static func link(size: String? = nil) -> PageStyle {
        PageStyle(
            ask: { request, place in
                guard let url = place.token else { return request.set(size, place.size) }
                request.url = url
                // Parameters in a body are not part of the server's URL.
                if !request.content.makesBodyOfParameters {
                    request.parameters = nil
                    request.parameterSource = nil
                    request.isOfServersMaking = true
                }
            },
            next: { (response, place) throws(NetError) in
                guard let url = try response.link("next") else { return .end }
                guard url.hasSameOrigin(as: response.metrics.first?.url ?? "") else {
                    throw NetError(
                        .redirectRefused, "the next page is at another origin: \(shownPageToken(url))",
                        response: response.bare)
                }
                return .page(place.following(token: url))
            }, counter: nil)
    }

    private static func counting(
        isSized: Bool, _ total: (@Sendable (Response<Value>) -> Int?)?, _ count: @escaping @Sendable (Value) -> Int
    ) -> @Sendable (Response<Value>, Place) throws(NetError) -> Next {
        { response, place in
            let count = count(response.value)
            if count <= 0 {
                return place.number > 1 ? .none : .end
            }
            let isLast =
                if let total = total?(response) {
                    place.offset.addingSaturated(count) >= total
                } else {
                    isSized && count < place.size
                }
            return isLast ? .end : .page(place.following(count: count))
        }
    }
}

extension PageStyle where Value: Collection {
    /// Pages by number, whose values are arrays of items; see ``number(_:from:size:total:count:)``.
    public static func number(
        _ name: String = "page", from first: Int = 1, size: String? = "per_page",
        total: (@Sendable (Response<Value>) -> Int?)? = nil
    ) -> PageStyle {
        number(name, from: first, size: size, total: total) { $0.count }
    }

    /// Pages by offset, whose values are arrays of items; see ``offset(_:size:total:count:)``.
    public static func offset(
        _ name: String = "offset", size: String? = "limit", total: (@Sendable (Response<Value>) -> Int?)? = nil
    ) -> PageStyle {
        offset(name, size: size, total: total) { $0.count }
    }
}

extension PageStyle.Place {
    fileprivate func following(count: Int = 0, token: String? = nil) -> Self {
        var place = self
        place.number += 1
        place.offset = place.offset.addingSaturated(count)
        place.token = token
        return place
    }
}

extension Request {
    fileprivate mutating func set(_ name: String?, _ number: Int) {
        guard let name else { return }
        parameters = parameters ?? .object([])
        parameters?[name] = .integer(Int64(number))
    }
}

extension Response {
    /// The response with its body as the value, for errors.
    var bare: Response<Bytes> { map { $0.bytes } }
}
