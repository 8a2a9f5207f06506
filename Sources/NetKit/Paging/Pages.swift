/// The pages of a list as an asynchronous sequence. Each iteration starts with the first page.
///
///     for try await page in agent.pages(of: Request<[City]>("cities"), by: .number()) {
///         cities += page.value
///     }
///
/// A page is requested when it is read. An error ends the sequence.
public struct Pages<Source: RequestConvertible>: AsyncSequence, Sendable {
    let source: Source
    let style: PageStyle<Source.Value>
    let size: Int
    let sender: any RequestSender

    /// Returns an iterator that starts with the first page.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(pager: pager(through: sender))
    }

    private func pager(through sender: some RequestSender) -> Pager<Source> {
        Pager(source, by: style, size: size, through: sender)
    }

    /// Loads the pages one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var pager: Pager<Source>?

        fileprivate init(pager: Pager<Source>) {
            self.pager = pager
        }

        /// Returns the next page, or `nil` after the last.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(NetError) -> Page<Source.Value>?
        {
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
    /// - Parameters:
    ///   - source: a request, or a value that creates one for each page.
    ///   - style: how the next page is found.
    ///   - size: the requested number of items on a page.
    public func pages<Source: RequestConvertible>(
        of source: Source, by style: PageStyle<Source.Value>, size: Int = 20
    ) -> Pages<Source> {
        Pages(source: source, style: style, size: size, sender: self)
    }
}
