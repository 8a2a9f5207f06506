/// Accompanies a start from its beginning to its end, whether a request, a batch or a chain was started.
///
///     struct Dimmer: Accessory {
///         func willStart(_ run: Run) { … }
///         func didStop(_ run: Run) { … }
///     }
///
/// Every start tells it ``willStart(_:)``, ``willStop(_:)`` and ``didStop(_:)`` once each and in this order, however it
/// ends: with an answer from the network or a cache, with an error, or because it was cancelled. It is kept until then
/// and no longer; whoever is an accessory of what it keeps itself takes a ``WeakAccessory``. `send(_:)`,
/// `save(_:to:)`, downloads and `stream(_:)` tell a request's accessories, too, wherever their work is done; a stream's
/// end is that of its body. All methods are optional.
public protocol Accessory: Sendable {
    /// Something begins; on the thread that starts it, before anything else is done.
    func willStart(_ run: Run)
    /// It is over; where the start delivers, before those who wait are told.
    func willStop(_ run: Run)
    /// Those who wait were told; where the start delivers.
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

    /// Calls each closure where ``Accessory`` calls the method of that name.
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

/// Passes on to an accessory without keeping it.
public struct WeakAccessory: Accessory {
    private final class Holder: Sendable {
        weak let object: (any Accessory & AnyObject)?

        init(_ object: any Accessory & AnyObject) {
            self.object = object
        }
    }

    private let holder: Holder

    /// Passes on to this one for as long as somebody else keeps it.
    public init(_ accessory: any Accessory & AnyObject) {
        holder = Holder(accessory)
    }

    /// Passes it on.
    public func willStart(_ run: Run) { holder.object?.willStart(run) }
    /// Passes it on.
    public func willStop(_ run: Run) { holder.object?.willStop(run) }
    /// Passes it on.
    public func didStop(_ run: Run) { holder.object?.didStop(run) }
}
