public import NetKit

/// An object that computes a request's parameters.
///
///     request.parameterSource = .delegate(form)
public protocol ParameterDelegate: AnyObject, Sendable {
    /// Returns the parameters, or `nil` to keep those of the request. It is called on the task that starts the request.
    func parameters(for request: Request<Bytes>) async throws -> Parameters?
}

extension ParameterSource {
    /// Creates a source from an object, which is referenced weakly. After the object is deallocated, the request's own
    /// parameters are sent.
    public static func delegate(_ delegate: some ParameterDelegate) -> ParameterSource {
        ParameterSource { [weak delegate] request in try await delegate?.parameters(for: request) }
    }
}
