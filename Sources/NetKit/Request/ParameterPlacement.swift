/// Where a request's parameters go.
public enum ParameterPlacement: Sendable, Hashable {
    /// Into the URL for a method among ``Request/queryMethods``, and into a form otherwise.
    case byMethod
    /// Into the URL for a method among ``Request/queryMethods``, and into a JSON body otherwise.
    case byMethodAsJSON
    /// Into the URL.
    case query
    /// Into a form, also for GET and DELETE.
    case form
    /// Into a JSON body, also for GET and DELETE.
    case json
}
