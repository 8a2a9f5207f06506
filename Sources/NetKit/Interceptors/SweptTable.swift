/// Values by name, such as hosts, of which those that are as good as none are forgotten.
///
/// Only many are looked through, and then again when they are twice as many as were left: no call walks over all.
struct SweptTable<Value: Sendable>: Sendable {
    private static var many: Int { 1024 }

    private var byName: [String: Value] = [:]
    private var most = Self.many

    var count: Int { byName.count }

    subscript(name: String) -> Value? {
        get { byName[name] }
        set { byName[name] = newValue }
    }

    /// Keeps those that are something, if there are many.
    mutating func sweep(keeping isSomething: (Value) -> Bool) {
        guard byName.count > most else { return }
        byName = byName.filter { isSomething($0.value) }
        most = max(Self.many, byName.count * 2)
    }
}
