private enum OutputNote: RequestNote {
    static let standard: (any BodyOutput)? = nil
}

extension Request {
    /// The destination of an accepted response's body. If `nil`, the body is kept in memory.
    ///
    /// With an output, `send` and request tasks return responses without ``Response/bytes``, and the value is decoded
    /// from no bytes. A status or type that is not accepted writes nothing, and throws with the body as usual. Streams,
    /// saves and downloads have their own destinations.
    public var output: (any BodyOutput)? {
        get { hasNotes ? self[OutputNote.self] : nil }
        set { self[OutputNote.self] = newValue }
    }
}

extension Request {
    /// Returns the same request with its response's body written to `output`.
    public func writing(to output: any BodyOutput) -> Request<Void> {
        var request = decoded(by: .nothing)
        request.acceptedTypes = acceptedTypes ?? decoding.types
        request.output = output
        return request
    }
}
