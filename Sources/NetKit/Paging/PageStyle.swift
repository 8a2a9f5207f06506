/// How a server counts pages: what the request for one says, and which one comes after it.
///
///     .number()                                       // ?page=1&per_page=20, as long as pages are full
///     .offset(size: "limit", total: { $0.value.total }) { $0.items.count }
///     .cursor("after") { $0.value.nextCursor }        // what the page before it says
///     .link()                                         // the `Link` field, rel="next" (RFC 8288)
public struct PageStyle<Value: Sendable>: Sendable {
    /// A page to come.
    struct Place: Sendable {
        /// Counted from 1.
        var number = 1
        /// Items on the pages before it.
        var offset = 0
        /// Items wanted on it.
        var size: Int
        /// The cursor or the URL that leads to it; nil for the first.
        var token: String?
    }

    /// What comes after a page.
    enum Next: Sendable {
        /// Another one.
        case page(Place)
        /// Nothing.
        case end
        /// Nothing, and this one is none: it is empty and only shows that the one before it was the last.
        case none
    }

    private let ask: @Sendable (inout Request<Value>, Place) -> Void
    private let next: @Sendable (Response<Value>, Place) throws(NetError) -> Next
    /// What the request says its place with, where the server may not heed it.
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
    /// Pages with numbers.
    ///
    /// The last page is the one that reaches `total`; without it one that holds less than was asked for, or the one
    /// before an empty one, which is left out.
    /// - Parameters:
    ///   - name: the parameter with the page's number.
    ///   - first: the first page's number.
    ///   - size: the parameter with the number of items wanted; nil says nothing, and then no page is too short.
    ///   - total: the number of items on all pages, where the response tells.
    ///   - count: the number of items on a page.
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

    /// Pages that begin behind so many items; otherwise as ``number(_:from:size:total:count:)``.
    ///
    /// - Parameters:
    ///   - name: the parameter with the number of items before the page.
    ///   - size: the parameter with the number of items wanted; nil says nothing.
    ///   - total: tells how many items there are in all, where the server does.
    ///   - count: the number of items on a page.
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

    /// Each page says what leads to the next one.
    ///
    /// - Parameters:
    ///   - name: the parameter with the cursor; the first page is asked for without.
    ///   - size: the parameter with the number of items wanted; nil says nothing.
    ///   - next: the cursor of the next page; nil and "" are the end.
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

    /// The response's `Link` field leads to the next page, with rel="next" (RFC 8288).
    ///
    /// The URL is taken as it is, without the request's own parameters; of the agent's it gets those that it does not
    /// have. After a page with one of another origin than was asked first the next load throws
    /// ``NetError/Code/redirectRefused``: the request's credentials are not for it.
    /// - Parameter size: the first request's parameter with the number of items wanted; nil says nothing.
    public static func link(size: String? = nil) -> PageStyle {
        PageStyle(
            ask: { request, place in
                guard let url = place.token else { return request.set(size, place.size) }
                request.url = url
                // What goes into a body is not in the URL that the server has made.
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
    /// Pages with numbers, whose values are their items; see ``number(_:from:size:total:count:)``.
    public static func number(
        _ name: String = "page", from first: Int = 1, size: String? = "per_page",
        total: (@Sendable (Response<Value>) -> Int?)? = nil
    ) -> PageStyle {
        number(name, from: first, size: size, total: total) { $0.count }
    }

    /// Pages that begin behind so many items, whose values are their items; see ``offset(_:size:total:count:)``.
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
    /// The response with its body for a value, as errors carry it.
    var bare: Response<Bytes> { map { $0.bytes } }
}
