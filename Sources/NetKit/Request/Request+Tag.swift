private enum TagNote: RequestNote {
    static let standard = 0
}

private enum UserInfoNote: RequestNote {
    static let standard: [String: any Sendable] = [:]
}

extension Request {
    /// A number of the caller's, to find requests that belong together: ``Agent/cancel(tag:)``; 0 says nothing.
    public var tag: Int {
        get { self[TagNote.self] }
        set { self[TagNote.self] = newValue }
    }

    /// Whatever the caller wants to find again with the request; nobody else looks at it.
    public var userInfo: [String: any Sendable] {
        get { self[UserInfoNote.self] }
        set { self[UserInfoNote.self] = newValue }
    }
}
