/// A type that describes a request and the settings of its tasks, so that a task can be started before the request is
/// created.
///
/// All settings have defaults. ``Request`` conforms to this protocol too.
public protocol Startable<Value>: RequestConvertible {
    /// The number of the request, like ``Request/tag``.
    var tag: Int { get }
    /// The caller's values for the request, like ``Request/userInfo``.
    var userInfo: [String: any Sendable] { get }
    /// The listeners of the request's tasks.
    var listeners: [any TaskListener] { get }
}

extension Startable {
    /// No values.
    public var userInfo: [String: any Sendable] { [:] }
    /// No listeners.
    public var listeners: [any TaskListener] { [] }
}

extension Request: Startable {
    /// The listeners of the request's tasks.
    public var listeners: [any TaskListener] {
        get { callSettings?.value.listeners ?? [] }
        set { settings.listeners = newValue }
    }

    /// Whether a call without a task is registered like a task, because it has listeners or can be found by its tag.
    var isListed: Bool {
        guard hasOptions, transferHandle == nil else { return false }
        return tag != 0 || !listeners.isEmpty
    }

    /// Removes the listeners, so that an observer that stores a sent request does not keep them alive.
    mutating func removeListeners() {
        if !listeners.isEmpty {
            settings.listeners = []
        }
    }

    /// Adds the tag and the values of an endpoint. Those that the request has already take precedence.
    mutating func addValues(of endpoint: any Startable) {
        if tag == 0, endpoint.tag != 0 {
            tag = endpoint.tag
        }
        let values = endpoint.userInfo
        if !values.isEmpty {
            userInfo = values.merging(userInfo) { _, own in own }
        }
    }

    /// Adds the listeners of an endpoint, which are notified before those that the request has already.
    mutating func addListeners(of endpoint: any Startable) {
        let added = endpoint.listeners
        if !added.isEmpty {
            listeners = added + listeners
        }
    }
}

/// A value that sends the request of another value.
protocol SourcedRequest: RequestConvertible {
    /// The type of the other value.
    static var sourceType: any RequestConvertible.Type { get }
}

extension RequestConvertible {
    /// The group of the requests that this type creates; `nil` for a plain ``Request``.
    static var requestGroup: ObjectIdentifier? {
        if let type = self as? any SourcedRequest.Type {
            return type.sourceType.requestGroup
        }
        return self is Request<Value>.Type ? nil : ObjectIdentifier(self)
    }

    /// Returns the request of one call, with everything that this value determines for the call: its tag, its values,
    /// its listeners and its group.
    ///
    /// Every function that sends a value, or looks up its response, creates the request with this function.
    /// - Parameter isGrouped: returns false for a request that needs no group, because its call is not listed.
    package func callRequest(
        isGrouped: (Request<Value>) -> Bool = { _ in true }
    ) async throws(NetError) -> Request<Value> {
        try await request(addsListeners: true, isGrouped: isGrouped)
    }

    /// Returns the same request without the listeners of this value, for a task that has them already.
    func taskRequest(
        isGrouped: (Request<Value>) -> Bool = { _ in true }
    ) async throws(NetError) -> Request<Value> {
        try await request(addsListeners: false, isGrouped: isGrouped)
    }

    private func request(
        addsListeners: Bool, isGrouped: (Request<Value>) -> Bool
    ) async throws(NetError) -> Request<Value> {
        if let request = self as? Request<Value> {
            return request
        }
        var request = try await request()
        if let startable = self as? any Startable {
            request.addValues(of: startable)
            if addsListeners {
                request.addListeners(of: startable)
            }
        }
        if isGrouped(request), let group = Self.requestGroup {
            request.group = group
        }
        return request
    }
}
