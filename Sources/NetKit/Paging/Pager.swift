/// Loads the pages of a list one at a time, for example while a view is scrolled.
///
///     let pager = Pager(Request<[City]>("cities"), by: .number(), size: 50, through: agent)
///     let first = try await pager.refresh()
///     let second = try await pager.loadNextPage()
///
/// No page is returned twice: loads wait for each other, and each returns the next page. A failed load changes nothing,
/// so the next one requests the same page. If a page's reference to the next one is invalid, the page is returned and
/// the next load fails. Thread-safe.
public final class Pager<Source: RequestConvertible>: Sendable {
    /// A page of this list.
    public typealias Element = Page<Source.Value>

    private typealias Place = PageStyle<Source.Value>.Place

    private struct State: Sendable {
        var size: Int
        /// The page to load; `nil` after the last.
        var next: Place?
        /// Why the reference to the next page is invalid.
        var fault: NetError?
        var current: Element?
        /// The cursors and URLs of the pages so far.
        var tokens: Set<String> = []
        var loading = 0
    }

    private let source: Source
    private let style: PageStyle<Source.Value>
    private let sender: any RequestSender
    private let state: Lock<State>
    private let turns = Turns()

    /// Creates a pager. Loads nothing.
    ///
    /// - Parameters:
    ///   - source: creates the request of each page.
    ///   - style: how the next page is found.
    ///   - size: the requested number of items on a page; less than 1 is treated as 1.
    ///   - sender: an agent.
    public init(
        _ source: Source, by style: PageStyle<Source.Value>, size: Int = 20, through sender: some RequestSender
    ) {
        self.source = source
        self.style = style
        self.sender = sender
        state = Lock(State(size: max(1, size), next: Place(size: max(1, size))))
    }

    /// The requested number of items on a page. A change applies after the next ``refresh()``: before, it would shift
    /// the items between pages.
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

    /// The last loaded page; `nil` before the first.
    public var currentPage: Element? { state.withLock { $0.current } }
    /// The number of the current page, counted from 1; 0 before the first.
    public var currentPageNumber: Int { currentPage?.number ?? 0 }
    /// Whether the current page is the first.
    public var isFirstPage: Bool { currentPage?.isFirst ?? false }
    /// Whether no further page is known.
    public var isLastPage: Bool { state.withLock { $0.next == nil && $0.fault == nil } }
    /// Whether a load is in flight, or waits for another.
    public var isLoading: Bool { state.withLock { $0.loading > 0 } }

    /// Loads the page after the current one, or the first. Returns `nil` after the last.
    ///
    /// Throws the errors of the request. Two more errors name an invalid link:
    /// - ``NetError/Code/pageRepeated`` after a page that refers to an earlier one. The list ends there.
    /// - ``NetError/Code/redirectRefused`` after a page whose link has another origin, until ``refresh()`` is called.
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

    /// Returns the error of an invalid reference. A cycle is reported once, because all its pages were returned.
    private func takeFault() -> NetError? {
        state.withLock { state in
            let fault = state.fault
            if fault?.code == .pageRepeated {
                state.fault = nil
            }
            return fault
        }
    }

    /// Loads the first page again. The earlier pages are forgotten when it has arrived.
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
            // The server has no page of this number, so the list has ended.
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

/// Returns a cursor or a link for an error message: one line, truncated, without the secrets of a URL.
func shownPageToken(_ token: String) -> String {
    let shown = token.contains("://") ? Redaction().hiding(url: token) : token
    return String(String(shown.prefix(200)).debugDescription)
}

extension Response {
    /// Whether both bodies are equal and not empty.
    fileprivate func isAgain(_ other: Response) -> Bool { !bytes.isEmpty && bytes == other.bytes }
}
