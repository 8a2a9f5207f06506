public import NetKit

/// Monitors the network path to the internet, or to one host, and reports each change once.
///
///     let reachability = Reachability()
///     if reachability.isReachable { … }                       // known immediately
///     for await state in reachability { … }                   // the current state, then every change
///     let watch = reachability.watch { state in … }           // the same with a closure
///
/// It sends nothing to the network and does not poll, but reads the links, addresses and routes of the system. It
/// therefore detects whether this machine has a route, not whether the host responds. It needs no privileges.
///
/// If the system does not provide the information, the state is ``PathState/Status/unknown``, and ``failure`` has the
/// reason. All waits and sequences end when the object is deallocated. Thread-safe.
public final class Reachability: Sendable {
    private let source: any PathSource
    private let monitor: PathMonitor?
    let registry = PathRegistry()

    /// Creates a monitor of the path to the internet, or to a host, which is a name or a numeric address.
    ///
    /// A name is resolved by the system at the beginning and after each change. While it is not resolved, the state is
    /// that of the path to the internet.
    public convenience init(host: String? = nil) {
        let monitor = PathMonitor(host: host ?? "")
        self.init(monitor, monitor)
    }

    /// Creates a monitor with another source of states, for example in a test.
    public convenience init(_ source: any PathSource) {
        self.init(source, nil)
    }

    private init(_ source: any PathSource, _ monitor: PathMonitor?) {
        self.source = source
        self.monitor = monitor
        source.start { [registry] state in registry.update(state) }
    }

    deinit {
        source.stop()
        registry.close()
    }

    /// The current state.
    public var state: PathState { registry.state }

    /// Whether a path exists. False if that is unknown.
    public var isReachable: Bool { state.isReachable }

    /// The reason why the system provides no information, or `nil` if it does.
    public var failure: NetError? { monitor?.failure }

    /// Returns the current state of the path to a host, which is a name or a numeric address. For a name, it waits for
    /// the system's resolver.
    public func state(of host: String) async -> PathState {
        await source.state(of: host)
    }

    /// Returns a monitor of the path to one host. With a source other than the system, it returns this object, because
    /// such a source has one state for all hosts.
    func focused(on host: String) -> Reachability {
        monitor == nil ? self : Reachability(host: host)
    }

    /// Waits until a path exists. Throws `NetError.Code.cancelled` if the task is cancelled before that.
    public func waitUntilReachable() async throws(NetError) {
        try await wait { $0.isReachable }
    }

    /// Waits until `isWanted` accepts the state. Throws `NetError.Code.cancelled` if the task is cancelled before
    /// that, and `NetError.Code.timeout` after `limit`.
    func wait(
        for limit: Duration? = nil, time: TimeSource = .system,
        until isWanted: @escaping @Sendable (PathState) -> Bool
    ) async throws(NetError) {
        let promise = Promise<Void>()
        let watch = self.watch { state in
            if isWanted(state) {
                promise.fulfil(.success(()))
            }
        }
        let timeout = limit.map { limit in
            Task {
                try await time.sleep(limit)
                promise.fulfil(
                    .failure(NetError(.timeout, "the network was not reachable within the time limit")))
            }
        }
        defer {
            timeout?.cancel()
            watch.cancel()
        }
        try await promise.value()
    }
}

/// The current state of the network path, and its listeners. Each listener first receives the current state, then every
/// change in order. A listener is called by one thread at a time, even if several threads update the state.
final class PathRegistry: Sendable {
    typealias Handler = @Sendable (PathState) -> Void

    private struct Listener: Sendable {
        let handler: Handler
        let onEnd: @Sendable () -> Void
        var waiting: [PathState]
        var isBeingCalled = false
    }

    private struct State: Sendable {
        var state = PathState(.unknown)
        var listeners: [Int: Listener] = [:]
        var last = 0
        var isClosed = false
    }

    private let lock = Lock(State())

    var state: PathState { lock.withLock { $0.state } }

    /// Sets the state and notifies the listeners, unless the state is unchanged.
    func update(_ state: PathState) {
        let numbers = lock.withLock { registry in
            guard state != registry.state else { return [Int]() }
            registry.state = state
            for number in registry.listeners.keys {
                registry.listeners[number]?.waiting.append(state)
            }
            return registry.listeners.keys.sorted()
        }
        for number in numbers {
            notify(number)
        }
    }

    /// Adds a listener, calls it with the current state, and returns its number. `onEnd` is called when the listener is
    /// removed.
    func add(_ handler: @escaping Handler, onEnd: @escaping @Sendable () -> Void = {}) -> Int {
        let number: Int? = lock.withLock { registry in
            if registry.isClosed {
                return nil
            }
            registry.last += 1
            registry.listeners[registry.last] = Listener(handler: handler, onEnd: onEnd, waiting: [registry.state])
            return registry.last
        }
        guard let number else {
            onEnd()
            return 0
        }
        notify(number)
        return number
    }

    func remove(_ number: Int) {
        let listener = lock.withLock { $0.listeners.removeValue(forKey: number) }
        listener?.onEnd()
    }

    /// Removes all listeners.
    func close() {
        let listeners = lock.withLock { registry in
            defer { registry.listeners = [:] }
            registry.isClosed = true
            return registry.listeners
        }
        for listener in listeners.values {
            listener.onEnd()
        }
    }

    private func notify(_ number: Int) {
        var isFirst = true
        while true {
            let next: (Handler, PathState)? = lock.withLock { [isFirst] registry in
                guard var listener = registry.listeners[number], !(isFirst && listener.isBeingCalled) else {
                    return nil
                }
                defer { registry.listeners[number] = listener }
                listener.isBeingCalled = !listener.waiting.isEmpty
                guard listener.isBeingCalled else { return nil }
                return (listener.handler, listener.waiting.removeFirst())
            }
            guard let (handler, state) = next else { return }
            isFirst = false
            handler(state)
        }
    }
}

extension Reachability {
    /// Calls a closure with the current state, then with every change in order.
    ///
    /// - Parameters:
    ///   - delivery: where the closure is called. If `nil`, it is first called before this function returns, and then
    ///     on the thread that reports the change, one call at a time. It must not block then.
    ///   - handler: receives the states.
    /// - Returns: the registration of the closure. Keep it, because the calls end when it is deallocated or cancelled.
    public func watch(
        on delivery: Delivery? = nil, _ handler: @escaping @Sendable (PathState) -> Void
    ) -> ReachabilityWatch {
        guard let delivery else {
            let number = registry.add(handler)
            return ReachabilityWatch { [weak registry] in registry?.remove(number) }
        }
        let states = makeAsyncIterator().states
        let task = Task {
            for await state in states {
                await delivery.run {
                    handler(state)
                }
            }
        }
        return ReachabilityWatch { task.cancel() }
    }
}

/// A registration for changes. It ends when it is cancelled or deallocated.
public final class ReachabilityWatch: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit {
        end()
    }

    /// Ends the registration.
    public func cancel() {
        end()
    }
}

extension Reachability: AsyncSequence {
    /// The current state, then every change. No state is dropped, even for a slow reader.
    public struct AsyncIterator: AsyncIteratorProtocol {
        // Keeps the reachability alive while the iterator exists.
        private let owner: Reachability
        let states: AsyncStream<PathState>
        private var iterator: AsyncStream<PathState>.Iterator

        fileprivate init(_ owner: Reachability, _ states: AsyncStream<PathState>) {
            self.owner = owner
            self.states = states
            iterator = states.makeAsyncIterator()
        }

        /// Returns the next state, or `nil` if the task is cancelled.
        public mutating func next() async -> PathState? {
            await iterator.next(isolation: #isolation)
        }

        /// Returns the next state, or `nil` if the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> PathState? {
            await iterator.next(isolation: actor)
        }
    }

    /// Returns an iterator that begins with the current state.
    public func makeAsyncIterator() -> AsyncIterator {
        let (states, continuation) = AsyncStream.makeStream(of: PathState.self)
        let number = registry.add {
            continuation.yield($0)
        } onEnd: {
            continuation.finish()
        }
        continuation.onTermination = { [weak registry] _ in registry?.remove(number) }
        return AsyncIterator(self, states)
    }
}
