private enum OutputNote: RequestNote {
    static let standard: (any BodyOutput)? = nil
}

extension Request {
    /// Where the body of an accepted answer goes; nil keeps it in memory.
    ///
    /// With one, `send` and starts give responses without ``Response/bytes``, so the value is made of no bytes. Another
    /// status or type writes nothing, and throws with the body as ever. Streams, saves and downloads have places of
    /// their own.
    public var output: (any BodyOutput)? {
        get { hasNotes ? self[OutputNote.self] : nil }
        set { self[OutputNote.self] = newValue }
    }
}

extension Request {
    /// The same question, whose answer's body goes there.
    public func writing(to output: any BodyOutput) -> Request<Void> {
        var request = decoded(by: .nothing)
        request.acceptedTypes = acceptedTypes ?? decoding.types
        request.output = output
        return request
    }
}
