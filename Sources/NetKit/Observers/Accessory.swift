/// Accompanies a request task from its beginning to its end, whether it is a request, a batch or a chain.
///
///     struct Dimmer: Accessory {
///         func willStart(_ run: Run) { … }
///         func didStop(_ run: Run) { … }
///     }
///
/// Every task calls ``willStart(_:)``, ``willStop(_:)`` and ``didStop(_:)`` once each, in this order. It does so after
/// a response from the network or a cache, after an error and after a cancellation.
///
/// The task keeps the accessory until it ends. To avoid a reference cycle, pass a ``WeakAccessory``.
///
/// `send(_:)`, `save(_:to:)`, downloads and `stream(_:)` call a request's accessories too. A stream ends with its body.
/// All methods are optional.
public protocol Accessory: Sendable {
    /// Called on the thread that starts the task, before anything else is done.
    func willStart(_ run: Run)
    /// Called where the task delivers, when it has ended and before its completion handlers are called.
    func willStop(_ run: Run)
    /// Called where the task delivers, after its completion handlers.
    func didStop(_ run: Run)
}

extension Accessory {
    /// Does nothing.
    public func willStart(_ run: Run) {}
    /// Does nothing.
    public func willStop(_ run: Run) {}
    /// Does nothing.
    public func didStop(_ run: Run) {}
}

/// An accessory made of closures.
public struct AccessoryBlocks: Accessory {
    private let start: (@Sendable (Run) -> Void)?
    private let stop: (@Sendable (Run) -> Void)?
    private let stopped: (@Sendable (Run) -> Void)?

    /// Creates an accessory that calls each closure for the method of that name.
    public init(
        willStart: (@Sendable (Run) -> Void)? = nil, willStop: (@Sendable (Run) -> Void)? = nil,
        didStop: (@Sendable (Run) -> Void)? = nil
    ) {
        start = willStart
        stop = willStop
        stopped = didStop
    }

    /// Calls the first closure.
    public func willStart(_ run: Run) { start?(run) }
    /// Calls the second closure.
    public func willStop(_ run: Run) { stop?(run) }
    /// Calls the third closure.
    public func didStop(_ run: Run) { stopped?(run) }
}

/// Forwards to an accessory that it references weakly.
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

    /// Forwards the call.
    public func willStart(_ run: Run) { holder.object?.willStart(run) }
    /// Forwards the call.
    public func willStop(_ run: Run) { holder.object?.willStop(run) }
    /// Forwards the call.
    public func didStop(_ run: Run) { holder.object?.didStop(run) }
}
