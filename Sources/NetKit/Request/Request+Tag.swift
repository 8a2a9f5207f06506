private enum TagNote: RequestNote {
    static let standard = 0
}

private enum UserInfoNote: RequestNote {
    static let standard: [String: any Sendable] = [:]
}

extension Request {
    /// A number that groups requests, for ``Agent/cancel(tag:)``; 0 is no tag.
    public var tag: Int {
        get { self[TagNote.self] }
        set { self[TagNote.self] = newValue }
    }

    /// Values that the caller stores with the request; the library ignores them.
    public var userInfo: [String: any Sendable] {
        get { self[UserInfoNote.self] }
        set { self[UserInfoNote.self] = newValue }
    }
}
