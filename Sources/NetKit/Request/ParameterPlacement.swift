/// The position of a request's parameters.
public enum ParameterPlacement: Sendable, Hashable {
    /// The URL for a method in ``Request/queryMethods``, otherwise a form.
    case byMethod
    /// The URL for a method in ``Request/queryMethods``, otherwise a JSON body.
    case byMethodAsJSON
    /// The URL.
    case query
    /// A form, also for GET and DELETE.
    case form
    /// A JSON body, also for GET and DELETE.
    case json
}
