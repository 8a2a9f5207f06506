/// Work that consists of parts, with the properties that its request task needs.
protocol ComposedErrand: Errand {
    /// The kind that is reported to a delegate.
    var kind: Run.Kind { get }
    var userInfo: [String: any Sendable] { get }
    var accessories: [any Accessory] { get }
    /// The number of its parts, as far as it is known before it runs.
    var partCount: Int { get }
}

extension ComposedErrand {
    var partCount: Int { 0 }
}
