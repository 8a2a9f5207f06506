/// Changes the URL of each request before it is joined to a base, in the order of ``Agent/Configuration/urlFilters``.
///
///     configuration.urlFilters = [.adding(["version": "2.1"]), URLFilter { url, _ in "mobile/" + url }]
///
/// The request's parameters come later: what a filter writes into the query stands before them.
public struct URLFilter: Sendable {
    /// Whether it filters URLs that are absolute as well.
    public var filtersAbsoluteURLs: Bool
    private let filter: @Sendable (String, Request<Bytes>) throws -> String

    /// A filter that gets the URL as the filters before it left it, and the request as it was asked.
    ///
    /// What it throws ends the start: a ``NetError`` as it is, anything else under ``NetError/Code/badURL``.
    public init(
        filtersAbsoluteURLs: Bool = false, _ filter: @escaping @Sendable (String, Request<Bytes>) throws -> String
    ) {
        self.filtersAbsoluteURLs = filtersAbsoluteURLs
        self.filter = filter
    }

    /// Adds arguments to the query, before a fragment and behind what is there already; none leave the URL as it is.
    public static func adding(
        _ arguments: Parameters, encoding: QueryEncoding = QueryEncoding(), filtersAbsoluteURLs: Bool = false
    ) -> URLFilter {
        URLFilter(filtersAbsoluteURLs: filtersAbsoluteURLs) { url, _ in try encoding.url(url, with: arguments) }
    }

    /// The URL as it is from now on.
    func filtered(_ url: String, of request: Request<Bytes>) throws(NetError) -> String {
        do {
            return try filter(url, request)
        } catch {
            throw NetError(asking: error, .badURL, "a filter refused the URL")
        }
    }
}
