private enum GroupNote: RequestNote {
    static let standard: ObjectIdentifier? = nil
}

extension Request {
    /// The type that describes it, where it was made by one; all its requests belong together, whatever they ask.
    var group: ObjectIdentifier? {
        get { self[GroupNote.self] }
        set { self[GroupNote.self] = newValue }
    }
}

extension RequestConvertible {
    /// The request, with the type that it came from.
    func groupedRequest() async throws(NetError) -> Request<Value> {
        if let request = self as? Request<Value> {
            return request
        }
        var request = try await request()
        request.group = ObjectIdentifier(Self.self)
        return request
    }
}
