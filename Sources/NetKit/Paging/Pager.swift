/// Pages of one list, one at a time: what a view needs that loads more as it is scrolled.
///
///     let pager = Pager(Request<[City]>("cities"), by: .number(), size: 50, through: agent)
///     let first = try await pager.refresh()
///     let second = try await pager.loadNextPage()
///
/// No page is given twice: loads wait for each other, and each gets a page of its own. A load that fails changes
/// nothing, so the next one asks for the same page. A page whose way to the next one is unusable is given all the same,
/// and the load after it fails. Thread-safe.
public final class Pager<Source: RequestConvertible>: Sendable {
    /// A page of this list.
    public typealias Element = Page<Source.Value>

    private typealias Place = PageStyle<Source.Value>.Place

    private struct State: Sendable {
        var size: Int
        /// The page to load; nil after the last.
        var next: Place?
        /// Why the way from the current page to the next one is unusable.
        var fault: NetError?
        var current: Element?
        /// What led to the pages so far.
        var tokens: Set<String> = []
        var loading = 0
    }

    private let source: Source
    private let style: PageStyle<Source.Value>
    private let sender: any RequestSender
    private let state: Lock<State>
    private let turns = Turns()

    /// A list of which nothing is loaded.
    ///
    /// - Parameters:
    ///   - source: what asks for it; made anew for each page.
    ///   - style: how one page leads to the next.
    ///   - size: items wanted on a page; less than 1 counts as 1.
    ///   - sender: an agent.
    public init(
        _ source: Source, by style: PageStyle<Source.Value>, size: Int = 20, through sender: some RequestSender
    ) {
        self.source = source
        self.style = style
        self.sender = sender
        state = Lock(State(size: max(1, size), next: Place(size: max(1, size))))
    }

    /// Items wanted on a page. A change counts from the next ``refresh()``: in the middle it would move what is on each.
    public var pageSize: Int {
        get { state.withLock { $0.size } }
        set {
            state.withLock { state in
                state.size = max(1, newValue)
                if state.current == nil {
                    state.next?.size = state.size
                }
            }
        }
    }

    /// The page that was loaded last; nil before the first.
    public var currentPage: Element? { state.withLock { $0.current } }
    /// Its number, counted from 1; 0 before the first.
    public var currentPageNumber: Int { currentPage?.number ?? 0 }
    /// Whether it is the first.
    public var isFirstPage: Bool { currentPage?.isFirst ?? false }
    /// Whether nothing comes after it, as far as is known.
    public var isLastPage: Bool { state.withLock { $0.next == nil && $0.fault == nil } }
    /// Whether a load is under way, or waits for another.
    public var isLoading: Bool { state.withLock { $0.loading > 0 } }

    /// Loads the page after the current one, or the first; nil after the last.
    ///
    /// Throws what the request throws. After a page that leads back to an earlier one it throws
    /// ``NetError/Code/pageRepeated``, and nothing comes any more. After a page whose link leads to another origin it
    /// throws ``NetError/Code/redirectRefused``, until ``refresh()`` begins anew. Both name the link.
    public func loadNextPage() async throws(NetError) -> Element? {
        try await inTurn { () async throws(NetError) in
            let (place, current, tokens) = state.withLock { ($0.next, $0.current, $0.tokens) }
            if let fault = takeFault() {
                throw fault
            }
            guard let place else { return nil }
            return try await load(place, after: current, tokens)
        }
    }

    /// The fault that stands in the way. A circle is reported once: all its pages were given.
    private func takeFault() -> NetError? {
        state.withLock { state in
            let fault = state.fault
            if fault?.code == .pageRepeated {
                state.fault = nil
            }
            return fault
        }
    }

    /// Loads the first page again; what was loaded is forgotten when it is there.
    public func refresh() async throws(NetError) -> Element {
        let page = try await inTurn { () async throws(NetError) in
            try await load(Place(size: pageSize), after: nil, [])
        }
        guard let page else { throw NetError(.internal, "a first page is a page") }
        return page
    }

    private func inTurn(
        _ load: () async throws(NetError) -> Element?
    ) async throws(NetError) -> Element? {
        state.withLock { $0.loading += 1 }
        defer { state.withLock { $0.loading -= 1 } }
        try await turns.enter()
        defer { turns.leave() }
        return try await load()
    }

    private func load(
        _ place: Place, after current: Element?, _ tokens: Set<String>
    ) async throws(NetError) -> Element? {
        let response = try await sender.send(style.request(try await source.request(), at: place))
        if let counter = style.counter, let current, response.isAgain(current.response) {
            // The server has no page of this number: all there is was given.
            state.withLock { $0.next = nil }
            throw NetError(
                .pageRepeated,
                "page \(place.number) is page \(current.number) again: the server ignores \"\(counter)\"",
                response: response.bare)
        }
        var tokens = tokens
        if place.number == 1, let url = response.metrics.first?.url {
            tokens.insert(url)
        }
        do throws(NetError) {
            return keep(response, at: place, try next(response, at: place, &tokens), tokens)
        } catch {
            return keep(response, at: place, .end, tokens, fault: error)
        }
    }

    private func next(
        _ response: Response<Source.Value>, at place: Place, _ tokens: inout Set<String>
    ) throws(NetError) -> PageStyle<Source.Value>.Next {
        let next = try style.after(response, at: place)
        if case .page(let later) = next, let token = later.token, !tokens.insert(token).inserted {
            throw NetError(
                .pageRepeated, "page \(place.number) leads back to an earlier page by \(shownPageToken(token))",
                response: response.bare)
        }
        return next
    }

    private func keep(
        _ response: Response<Source.Value>, at place: Place, _ next: PageStyle<Source.Value>.Next,
        _ tokens: Set<String>, fault: NetError? = nil
    ) -> Element? {
        let later: Place? = if case .page(let later) = next { later } else { nil }
        return state.withLock { state in
            state.next = later
            state.fault = fault
            if case .none = next {
                state.current = state.current.map { Element(response: $0.response, number: $0.number, isLast: true) }
                return nil
            }
            state.tokens = tokens
            state.current = Element(
                response: response, number: place.number, isLast: later == nil && fault == nil)
            return state.current
        }
    }
}

/// A cursor or a link as an error may show it: one line, cut short, and without the secrets of a URL.
func shownPageToken(_ token: String) -> String {
    let shown = token.contains("://") ? Redaction().hiding(url: token) : token
    return String(String(shown.prefix(200)).debugDescription)
}

extension Response {
    /// Whether the body is that of another, and is not empty.
    fileprivate func isAgain(_ other: Response) -> Bool { !bytes.isEmpty && bytes == other.bytes }
}
