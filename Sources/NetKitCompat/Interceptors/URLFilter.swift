public import NetKit

/// Changes the URLs of requests, like YTKNetwork's URL filters.
///
///     configuration.interceptors = [
///         URLFilter.adding(["version": "2.1"]),
///         URLFilter { url, _ in url.replacing(".example.com/v1/", with: ".example.com/mobile/") },
///         Caching(store),
///     ]
///
/// In YTKNetwork, a filter receives the path before it is joined to the base URL. Here it receives the absolute URL,
/// with the parameters of the request, the service and the agent in its query.
///
/// - A filter cannot change scheme, host and port, because the request already has the agent's fields. To select
///   another host, set `Request.baseURL`.
/// - A filter in `Agent.Configuration.interceptors` receives the URLs at the agent's trusted origins, relative or
///   absolute. It does not receive the URL of a request that is sent unchanged (`Request.isComplete`).
/// - A filter may receive a URL that it has changed before: a link to a page, a request that a queue has stored, or one
///   that is sent again. It must then leave the URL as it is.
/// - Place filters after interceptors that change parameters, such as ``ReformParameters``. With
///   `Service.Configuration.adjustParameters`, place them in `Service.Configuration.signing`.
///
/// Cache keys contain the filtered URL, whether the filter comes before or after `Caching`. If a request sets
/// `cacheKeyParameters`, its filters may only append to the query: after any other change, the response is not cached.
public struct URLFilter: OriginBoundInterceptor {
    private let filter: @Sendable (String, Request<Bytes>) throws -> String

    /// Creates a filter from a closure.
    ///
    /// - Parameter filter: receives the URL as changed by earlier filters, and the request. It may be called several
    ///   times for a call. If it throws, the call ends with that error. An error that is not a `NetError` becomes
    ///   `NetError.Code.badURL`.
    public init(_ filter: @escaping @Sendable (String, Request<Bytes>) throws -> String) {
        self.filter = filter
    }

    /// Returns a filter that appends parameters to the URL's query, before a fragment. It leaves out parameters whose
    /// names are in the query already, so that no parameter is added twice.
    public static func adding(_ parameters: Parameters, encoding: QueryEncoding = QueryEncoding()) -> URLFilter {
        URLFilter { url, _ in
            guard case .object(let fields) = parameters else { return try encoding.url(url, with: parameters) }
            let names = WrittenURL(url).queryNames
            let missing = try fields.filter { field in
                let query = try encoding.query(.object([field]))
                return names.isDisjoint(with: WrittenURL("?" + query).queryNames)
            }
            return missing.isEmpty ? url : try encoding.url(url, with: .object(missing))
        }
    }

    /// Continues with the filtered URL.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        var call = call
        let url = try filteredURL(of: call.request)
        if url != call.request.url {
            call.request.url = url
        }
        return try await next(call)
    }

    /// Returns the request with the filtered URL, so that caches use it for their keys.
    public func identified(_ request: Request<Bytes>) -> Request<Bytes>? {
        guard let url = try? filteredURL(of: request), url != request.url else { return nil }
        var filtered = request
        filtered.url = url
        return filtered
    }

    private func filteredURL(of request: Request<Bytes>) throws(NetError) -> String {
        guard !request.isComplete else { return request.url }
        let url: String
        do {
            url = try filter(request.url, request)
        } catch {
            throw NetError(wrapping: error, .badURL, "a filter refused the URL")
        }
        guard WrittenURL(url).root == WrittenURL(request.url).root else {
            throw NetError(
                .badURL, "a URL filter changed the scheme, host or port: set baseURL of the request instead")
        }
        return url
    }
}
