/// What describes a request, and says before it is made how it is to be started.
///
/// Everything but the request has a default. A plain ``Request`` says it in its properties of the same names.
public protocol Startable<Value>: RequestConvertible {
    /// The caller's number for it, as ``Request/tag``.
    var tag: Int { get }
    /// What the caller wants to find again with it, as ``Request/userInfo``.
    var userInfo: [String: any Sendable] { get }
    /// Who accompanies its starts.
    var accessories: [any Accessory] { get }
    /// What comes between its outcome and those who are told.
    var hooks: OutcomeHooks<Response<Value>> { get }
}

extension Startable {
    /// None.
    public var tag: Int { 0 }
    /// Nothing.
    public var userInfo: [String: any Sendable] { [:] }
    /// Nobody.
    public var accessories: [any Accessory] { [] }
    /// None.
    public var hooks: OutcomeHooks<Response<Value>> { OutcomeHooks() }
}

private enum AccessoriesNote: RequestNote {
    static let standard: [any Accessory] = []
}

private enum HooksNote<Value: Sendable>: RequestNote {
    static var standard: OutcomeHooks<Response<Value>> { OutcomeHooks() }
}

extension Request: Startable {
    /// Who accompanies its starts.
    public var accessories: [any Accessory] {
        get { self[AccessoriesNote.self] }
        set { self[AccessoriesNote.self] = newValue }
    }

    /// What comes between the outcome of its starts and those who are told. Read in another way
    /// (``decoded(by:)``), the request has none.
    public var hooks: OutcomeHooks<Response<Value>> {
        get { self[HooksNote<Value>.self] }
        set { self[HooksNote<Value>.self] = newValue }
    }

    /// Whether a call of it alone is to be listed as a start is: somebody accompanies it, or may want to find it.
    var isListed: Bool {
        guard hasNotes, ticket == nil else { return false }
        return tag != 0 || carries(AccessoriesNote.self) || carries(HooksNote<Value>.self)
    }

    /// Who keeps what was sent, such as an observer, must not keep those who wait for it by that.
    mutating func forgetCompany() {
        drop(AccessoriesNote.self)
        drop(HooksNote<Value>.self)
    }
}

extension Startable {
    /// Its hooks, for who knows the type of its answer by another name.
    func hooks<Other>(for type: Other.Type) -> OutcomeHooks<Other> {
        hooks as? OutcomeHooks<Other> ?? OutcomeHooks()
    }
}

extension Request {
    /// Takes over who accompanies the starts of what described it, for a call that is only sent.
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
