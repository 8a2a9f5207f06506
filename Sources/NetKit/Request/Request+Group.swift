private enum GroupNote: RequestNote {
    static let standard: ObjectIdentifier? = nil
}

extension Request {
    /// The endpoint type that created the request; its requests form a group, with any URL.
    var group: ObjectIdentifier? {
        get { self[GroupNote.self] }
        set { self[GroupNote.self] = newValue }
    }
}

extension RequestConvertible {
    /// Returns the request with the type that created it.
    func groupedRequest() async throws(NetError) -> Request<Value> {
        if let request = self as? Request<Value> {
            return request
        }
        var request = try await request()
        request.group = ObjectIdentifier(Self.self)
        return request
    }
}
