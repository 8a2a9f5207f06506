public import NetKit

/// An object that is notified of the start and the end of a request task. The task can be a request, a batch or a
/// chain.
///
///     struct Dimmer: Accessory {
///         func willStart(_ task: RequestTask) { … }
///         func didStop(_ task: RequestTask) { … }
///     }
///
/// Every task calls `willStart`, `willStop` and `didStop` once each, in this order. The last two are
/// called after every outcome: a response from the network or a cache, an error, and a cancellation.
///
/// The task keeps the accessory alive until the task ends. To avoid a reference cycle, pass a ``WeakAccessory``.
///
/// The methods are those of `TaskListener`. All are optional.
public protocol Accessory: TaskListener {}

/// An accessory made of closures.
public struct AccessoryBlocks: Accessory {
    private let start: (@Sendable (RequestTask) -> Void)?
    private let stop: (@Sendable (RequestTask) -> Void)?
    private let stopped: (@Sendable (RequestTask) -> Void)?

    /// Creates an accessory. Each closure is called for the method with the same name.
    public init(
        willStart: (@Sendable (RequestTask) -> Void)? = nil, willStop: (@Sendable (RequestTask) -> Void)? = nil,
        didStop: (@Sendable (RequestTask) -> Void)? = nil
    ) {
        start = willStart
        stop = willStop
        stopped = didStop
    }

    /// Calls the `willStart` closure.
    public func willStart(_ task: RequestTask) { start?(task) }
    /// Calls the `willStop` closure.
    public func willStop(_ task: RequestTask) { stop?(task) }
    /// Calls the `didStop` closure.
    public func didStop(_ task: RequestTask) { stopped?(task) }
}

/// Forwards all calls to another accessory, which it references weakly.
public struct WeakAccessory: Accessory {
    private final class Holder: Sendable {
        weak let object: (any Accessory & AnyObject)?

        init(_ object: any Accessory & AnyObject) {
            self.object = object
        }
    }

    private let holder: Holder

    /// Creates a weak reference to the accessory.
    public init(_ accessory: any Accessory & AnyObject) {
        holder = Holder(accessory)
    }

    /// The accessory's value; false if it was deallocated.
    public var followsProgress: Bool { holder.object?.followsProgress ?? false }
    /// The accessory's value; false if it was deallocated.
    public var needsDecodedValue: Bool { holder.object?.needsDecodedValue ?? false }
    /// Forwards the call.
    public func willStart(_ task: RequestTask) { holder.object?.willStart(task) }
    /// Forwards the call.
    public func report(_ progress: TransferProgress, of task: RequestTask) { holder.object?.report(progress, of: task) }
    /// Forwards the call. Returns the outcome if the accessory was deallocated.
    public func prepare<Value: Sendable>(
        _ outcome: Result<Value, NetError>, of task: RequestTask
    ) async -> Result<Value, NetError> {
        await holder.object?.prepare(outcome, of: task) ?? outcome
    }
    /// Forwards the call.
    public func willStop(_ task: RequestTask) { holder.object?.willStop(task) }
    /// Forwards the call. Returns the outcome if the accessory was deallocated.
    public func deliver<Value: Sendable>(
        _ outcome: Result<Value, NetError>, of task: RequestTask
    ) -> Result<Value, NetError> {
        holder.object?.deliver(outcome, of: task) ?? outcome
    }
    /// Forwards the call.
    public func didStop(_ task: RequestTask) { holder.object?.didStop(task) }
    /// Forwards the call.
    public func cleared(_ task: RequestTask) { holder.object?.cleared(task) }
}

extension [any TaskListener] {
    /// The accessories among the listeners. They come before the other listeners.
    var accessories: [any Accessory] {
        get { compactMap { $0 as? any Accessory } }
        set { self = newValue + filter { !($0 is any Accessory) } }
    }
}

extension Request {
    /// The accessories of the request's tasks.
    public var accessories: [any Accessory] {
        get { listeners.accessories }
        set { listeners.accessories = newValue }
    }
}

extension Batch {
    /// The accessories of the request tasks of the batch.
    public var accessories: [any Accessory] {
        get { listeners.accessories }
        set { listeners.accessories = newValue }
    }
}

extension Chain {
    /// The accessories of the request tasks of the chain.
    public var accessories: [any Accessory] {
        get { listeners.accessories }
        set { listeners.accessories = newValue }
    }
}

extension StepGraph {
    /// The accessories of the request tasks of the graph.
    public var accessories: [any Accessory] {
        get { listeners.accessories }
        set { listeners.accessories = newValue }
    }
}

/// An endpoint or another startable type that has accessories.
///
///     struct HotCities: Endpoint, Accompanied {
///         typealias Value = [City]
///         let path = "cities/hot"
///         var accessories: [any Accessory] { [Dimmer()] }
///     }
public protocol Accompanied: Startable {
    /// The accessories of its tasks.
    var accessories: [any Accessory] { get }
}

extension Accompanied {
    /// The accessories.
    public var listeners: [any TaskListener] { accessories }
}

extension Accompanied where Self: Hooked {
    /// The accessories and the hooks.
    public var listeners: [any TaskListener] { accessories + (hooks.isEmpty ? [] : [hooks]) }
}
