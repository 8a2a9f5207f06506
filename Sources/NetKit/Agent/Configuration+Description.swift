extension Agent.Configuration: CustomStringConvertible, CustomReflectable {
    /// The base URL, up to its query and without credentials.
    public var description: String { "Agent.Configuration(baseURL: \(shownBase ?? "nil"))" }

    /// A mirror with the same URL and the fields, without secrets.
    public var customMirror: Mirror {
        Mirror(self, children: ["baseURL": shownBase as Any, "headers": headers], displayStyle: .struct)
    }

    private var shownBase: String? { baseURL?.shownPlace.debugDescription }
}
