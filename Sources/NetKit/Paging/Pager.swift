/// Loads the pages of a list one at a time, for example while a view is scrolled.
///
///     let pager = Pager(Request<[City]>("cities"), by: .number(), size: 50, through: agent)
///     let first = try await pager.refresh()
///     let second = try await pager.loadNextPage()
///
/// Concurrent loads wait for each other, and each one returns the next page, so that no page is returned twice. If a
/// load fails, the next load requests the same page again. If the link or cursor to the next page is invalid, the
/// current page is returned, and the next load fails. Thread-safe.
public final class Pager<Source: RequestConvertible>: Sendable {
    /// A page of this list.
    typealias Element = Page<Source.Value>

    private typealias Position = PageStyle<Source.Value>.Position

    private struct State: Sendable {
        /// The requested number of items; `nil` for that of the request, or else 20.
        var size: Int?
        /// The number of items on a full page, if a page was loaded.
        var fullCount: Int?
        /// The page to load next; `nil` after the last page.
        var next: Position?
        /// The error of the next load, if the link or cursor to the next page is invalid.
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
    private let mutex = AsyncMutex()

    /// Creates a pager. It loads nothing yet.
    ///
    /// - Parameters:
    ///   - source: creates the request of each page.
    ///   - style: how the next page is found.
    ///   - size: the requested number of items on a page. A number below 1 is treated as 1. If `nil`, the value that
    ///     the request already has is sent, or else 20. Styles without a name for it send none.
    ///   - sender: the agent that sends the requests.
    public init(
        _ source: Source, by style: PageStyle<Source.Value>, size: Int? = nil, through sender: some RequestSender
    ) {
        self.source = source
        self.style = style
        self.sender = sender
        let size = size.map { max(1, $0) }
        state = Lock(State(size: size, next: Position(size: size)))
    }

    /// The requested number of items on a page. If it comes from the request, this is 20 until the first page is
    /// loaded. If pages were loaded already, a change applies from the next ``refresh()`` on. Otherwise items would be
    /// skipped or repeated.
    public var pageSize: Int {
        get { state.withLock { $0.size ?? $0.fullCount ?? PageStyle<Source.Value>.defaultSize } }
        set {
            state.withLock { state in
                state.size = max(1, newValue)
                if state.current == nil {
                    state.next?.size = state.size
                }
            }
        }
    }

    /// The page that was loaded last; `nil` if none was.
    public var currentPage: Page<Source.Value>? { state.withLock { $0.current } }
    /// Whether no further page is known.
    public var isLastPage: Bool { state.withLock { $0.next == nil && $0.fault == nil } }
    /// Whether a load is in flight, or waits for another load.
    public var isLoading: Bool { state.withLock { $0.loading > 0 } }

    /// Loads the page after the current one, or the first page. Returns `nil` after the last page.
    ///
    /// Throws the errors of the request, and:
    /// - ``NetError/Code/pageRepeated`` if the current page refers to an earlier one. The list ends there.
    /// - ``NetError/Code/redirectRefused`` if the link in the current page has another origin. Further loads throw the
    ///   same error until ``refresh()``.
    public func loadNextPage() async throws(NetError) -> Page<Source.Value>? {
        try await withLock { () async throws(NetError) in
            let (position, current, tokens) = state.withLock { ($0.next, $0.current, $0.tokens) }
            if let fault = takeFault() {
                throw fault
            }
            guard let position else { return nil }
            return try await load(position, after: current, tokens)
        }
    }

    /// Returns the error of an invalid link or cursor. The error of a cycle is returned only once, because all pages of
    /// the cycle were returned already.
    private func takeFault() -> NetError? {
        state.withLock { state in
            let fault = state.fault
            if fault?.code == .pageRepeated {
                state.fault = nil
            }
            return fault
        }
    }

    /// Loads the first page again. When it has arrived, the list starts again from it.
    public func refresh() async throws(NetError) -> Page<Source.Value> {
        let page = try await withLock { () async throws(NetError) in
            try await load(Position(size: state.withLock { $0.size }), after: nil, [])
        }
        guard let page else { throw NetError(.internal, "the first page is missing") }
        return page
    }

    private func withLock(
        _ load: () async throws(NetError) -> Element?
    ) async throws(NetError) -> Element? {
        state.withLock { $0.loading += 1 }
        defer { state.withLock { $0.loading -= 1 } }
        try await mutex.enter()
        defer { mutex.leave() }
        return try await load()
    }

    private func load(
        _ position: Position, after current: Element?, _ tokens: Set<String>
    ) async throws(NetError) -> Element? {
        let (request, position) = style.request(try await source.callRequest(), at: position)
        let response = try await sender.send(request)
        if let counter = style.counter, let current, response.hasSameBody(current.response) {
            // The server ignores the parameter and returns the same page again, so there is no further page.
            state.withLock { $0.next = nil }
            throw NetError(
                .pageRepeated,
                "page \(position.number) repeats page \(current.number): the server ignores \"\(counter)\"",
                response: response.bare)
        }
        var tokens = tokens
        if position.number == 1, let url = response.metrics.first?.url {
            tokens.insert(url)
        }
        do throws(NetError) {
            return finishLoad(response, at: position, try next(response, at: position, &tokens), tokens)
        } catch {
            return finishLoad(response, at: position, .end, tokens, fault: error)
        }
    }

    private func next(
        _ response: Response<Source.Value>, at position: Position, _ tokens: inout Set<String>
    ) throws(NetError) -> PageStyle<Source.Value>.Next {
        let next = try style.pageAfter(response, at: position)
        if case .page(let later) = next, let token = later.token, !tokens.insert(token).inserted {
            throw NetError(
                .pageRepeated, "page \(position.number) links back to an earlier page: \(shownPageToken(token))",
                response: response.bare)
        }
        return next
    }

    private func finishLoad(
        _ response: Response<Source.Value>, at position: Position, _ next: PageStyle<Source.Value>.Next,
        _ tokens: Set<String>, fault: NetError? = nil
    ) -> Element? {
        let later: Position? = if case .page(let later) = next { later } else { nil }
        return state.withLock { state in
            state.next = later
            state.fault = fault
            if case .none = next {
                state.current = state.current.map { Element(response: $0.response, number: $0.number, isLast: true) }
                return nil
            }
            state.tokens = tokens
            state.fullCount = position.fullCount
            state.current = Element(
                response: response, number: position.number, isLast: later == nil && fault == nil)
            return state.current
        }
    }
}

/// Returns a cursor or a URL for an error message: quoted in one line, truncated, and with secrets hidden.
func shownPageToken(_ token: String) -> String {
    let shown = token.contains("://") ? Redaction().hiding(url: token) : token
    return String(String(shown.prefix(200)).debugDescription)
}

extension Response {
    /// Returns true if both bodies are equal and not empty.
    fileprivate func hasSameBody(_ other: Response) -> Bool { !bytes.isEmpty && bytes == other.bytes }
}

/// A lock for asynchronous work. One task holds it at a time, and waiting tasks get it in the order of their arrival.
final class AsyncMutex: Sendable {
    private struct State: Sendable {
        var isTaken = false
        var waiting: [Promise<Void>] = []
    }

    private let state = Lock(State())

    /// Waits for the lock. Throws if the task is cancelled first.
    func enter() async throws(NetError) {
        let promise = state.withLock { state -> Promise<Void>? in
            if !state.isTaken {
                state.isTaken = true
                return nil
            }
            let promise = Promise<Void>()
            state.waiting.append(promise)
            return promise
        }
        guard let promise else { return }
        do throws(NetError) {
            try await promise.value()
        } catch {
            let isWaiting = state.withLock { state in
                let count = state.waiting.count
                state.waiting.removeAll { $0 === promise }
                return state.waiting.count < count
            }
            // The task was given the lock before its cancellation removed it from the queue.
            if !isWaiting {
                leave()
            }
            throw error
        }
    }

    /// Releases the lock and passes it to the next task.
    func leave() {
        let next = state.withLock { state -> Promise<Void>? in
            state.isTaken = !state.waiting.isEmpty
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
        next?.fulfil(.success(()))
    }
}

/// The pages of a list as an asynchronous sequence. Each iterator starts with the first page.
struct Pages<Source: RequestConvertible>: AsyncSequence, Sendable {
    let source: Source
    let style: PageStyle<Source.Value>
    let size: Int?
    let sender: any RequestSender

    /// Returns an iterator that starts with the first page.
    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(pager: pager(through: sender))
    }

    private func pager(through sender: some RequestSender) -> Pager<Source> {
        Pager(source, by: style, size: size, through: sender)
    }

    /// Loads the pages one by one.
    struct AsyncIterator: AsyncIteratorProtocol {
        private var pager: Pager<Source>?

        fileprivate init(pager: Pager<Source>) {
            self.pager = pager
        }

        /// Returns the next page, or `nil` after the last page.
        mutating func next(isolation actor: isolated (any Actor)?) async throws(NetError) -> Page<Source.Value>? {
            do throws(NetError) {
                let page = try await pager?.loadNextPage()
                if page == nil || page?.isLast == true {
                    pager = nil
                }
                return page ?? nil
            } catch {
                pager = nil
                throw error
            }
        }
    }
}

extension RequestSender {
    /// Returns the pages of a list.
    ///
    ///     for try await page in agent.pages(of: Request<[City]>("cities"), by: .number()) {
    ///         cities += page.value
    ///     }
    ///
    /// A page is requested when the iterator is asked for it. An error ends the sequence.
    ///
    /// - Parameters:
    ///   - source: a request, or a value that creates one for each page.
    ///   - style: how the next page is found. By default it is the response's `Link` field (RFC 8288).
    ///   - size: the requested number of items on a page. If `nil`, the value that the request already has is sent, or
    ///     else 20. Styles without a name for it, such as ``PageStyle/link(size:)`` by default, send none.
    public func pages<Source: RequestConvertible>(
        of source: Source, by style: PageStyle<Source.Value> = .link(), size: Int? = nil
    ) -> some AsyncSequence<Page<Source.Value>, NetError> & Sendable {
        Pages(source: source, style: style, size: size, sender: self)
    }
}
