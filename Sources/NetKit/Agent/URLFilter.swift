/// Changes the URL of each request before it is joined to a base, in the order of ``Agent/Configuration/urlFilters``.
///
///     configuration.urlFilters = [.adding(["version": "2.1"]), URLFilter { url, _ in "mobile/" + url }]
///
/// The request's parameters are added later, after a query that a filter has added.
public struct URLFilter: Sendable {
    package var filtersAbsoluteURLs: Bool
    private let filter: @Sendable (String, Request<Bytes>) throws -> String

    /// Creates a filter from a closure.
    ///
    /// - Parameters:
    ///   - filtersAbsoluteURLs: whether it filters absolute URLs as well.
    ///   - filter: receives the URL as changed by earlier filters, and the original request. If it throws, the call
    ///     ends with that error. An error that is not a ``NetError`` becomes ``NetError/Code/badURL``.
    public init(
        filtersAbsoluteURLs: Bool = false, _ filter: @escaping @Sendable (String, Request<Bytes>) throws -> String
    ) {
        self.filtersAbsoluteURLs = filtersAbsoluteURLs
        self.filter = filter
    }

    /// Returns a filter that appends arguments to the URL's query, before a fragment. If there are no arguments, it
    /// does not change the URL.
    public static func adding(
        _ arguments: Parameters, encoding: QueryEncoding = QueryEncoding(), filtersAbsoluteURLs: Bool = false
    ) -> URLFilter {
        URLFilter(filtersAbsoluteURLs: filtersAbsoluteURLs) { url, _ in try encoding.url(url, with: arguments) }
    }

    /// Returns the filtered URL.
    func filtered(_ url: String, of request: Request<Bytes>) throws(NetError) -> String {
        do {
            return try filter(url, request)
        } catch {
            throw NetError(wrapping: error, .badURL, "a filter refused the URL")
        }
    }
}
