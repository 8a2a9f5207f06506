/// An errand made of others: what its starts want to know of it.
protocol ComposedErrand: Errand {
    /// What a delegate is told that it is.
    var kind: Run.Kind { get }
    var userInfo: [String: any Sendable] { get }
    var accessories: [any Accessory] { get }
    /// Its parts, as far as that is known before it is done.
    var partCount: Int { get }
}

extension ComposedErrand {
    var partCount: Int { 0 }
}
