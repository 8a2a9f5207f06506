/// Describes a request, and how to start it before it is created.
///
/// Everything except the request has a default. A plain ``Request`` has properties of the same names.
public protocol Startable<Value>: RequestConvertible {
    /// The caller's number for it, as ``Request/tag``.
    var tag: Int { get }
    /// The caller's values for it, as ``Request/userInfo``.
    var userInfo: [String: any Sendable] { get }
    /// The accessories of its tasks.
    var accessories: [any Accessory] { get }
    /// The hooks that see its outcome before the listeners.
    var hooks: OutcomeHooks<Response<Value>> { get }
}

extension Startable {
    /// 0.
    public var tag: Int { 0 }
    /// Empty.
    public var userInfo: [String: any Sendable] { [:] }
    /// Empty.
    public var accessories: [any Accessory] { [] }
    /// No hooks.
    public var hooks: OutcomeHooks<Response<Value>> { OutcomeHooks() }
}

private enum AccessoriesNote: RequestNote {
    static let standard: [any Accessory] = []
}

private enum HooksNote<Value: Sendable>: RequestNote {
    static var standard: OutcomeHooks<Response<Value>> { OutcomeHooks() }
}

extension Request: Startable {
    /// The accessories of its tasks.
    public var accessories: [any Accessory] {
        get { self[AccessoriesNote.self] }
        set { self[AccessoriesNote.self] = newValue }
    }

    /// The hooks that see the outcome of its tasks before the listeners. A copy with another decoding
    /// (``decoded(by:)``) has none.
    public var hooks: OutcomeHooks<Response<Value>> {
        get { self[HooksNote<Value>.self] }
        set { self[HooksNote<Value>.self] = newValue }
    }

    /// Whether a plain call is registered as a task: it has accessories, or can be found by its tag or its values.
    var isListed: Bool {
        guard hasNotes, ticket == nil else { return false }
        return tag != 0 || carries(AccessoriesNote.self) || carries(HooksNote<Value>.self)
    }

    /// Removes accessories and hooks. An observer that stores a sent request must not keep them alive.
    mutating func forgetCompany() {
        drop(AccessoriesNote.self)
        drop(HooksNote<Value>.self)
    }
}

extension Startable {
    /// Returns the hooks if they are for this type of value.
    func hooks<Other>(for type: Other.Type) -> OutcomeHooks<Other> {
        hooks as? OutcomeHooks<Other> ?? OutcomeHooks()
    }
}

extension Request {
    /// Takes the accessories of the description, for a call that is sent without a task.
    mutating func takeCompany(of description: any Startable) {
        if !description.accessories.isEmpty {
            accessories = description.accessories + accessories
        }
        let hooks = description.hooks(for: Response<Value>.self)
        if !hooks.isEmpty {
            self.hooks = hooks
        }
    }
}
