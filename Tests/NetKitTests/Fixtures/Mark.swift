/// What a request carries so that a test sees who still keeps it.
///
///     let mark = Mark()
///     let seen = WeakMark(mark)
///     request.progress = mark.ignore
final class Mark: Sendable {
    /// Does nothing, and keeps the mark.
    func ignore<Value>(_ value: Value) {}
}

/// Nil when nobody keeps it any more.
struct WeakMark: Sendable {
    weak let mark: Mark?

    init(_ mark: Mark) {
        self.mark = mark
    }
}
