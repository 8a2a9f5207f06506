/// Values by name, such as hosts, from which insignificant values are removed.
///
/// Only a large table is swept, and then again when it has doubled: the cost per call stays constant.
struct SweptTable<Value: Sendable>: Sendable {
    private static var many: Int { 1024 }

    private var byName: [String: Value] = [:]
    private var most = Self.many

    var count: Int { byName.count }

    subscript(name: String) -> Value? {
        get { byName[name] }
        set { byName[name] = newValue }
    }

    /// Removes insignificant values if there are many.
    mutating func sweep(keeping isSomething: (Value) -> Bool) {
        guard byName.count > most else { return }
        byName = byName.filter { isSomething($0.value) }
        most = max(Self.many, byName.count * 2)
    }
}
