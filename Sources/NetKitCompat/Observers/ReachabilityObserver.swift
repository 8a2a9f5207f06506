public import NetKitOffline

/// An object that is notified of changes of the network path, in place of AFNetworking's notification.
public protocol ReachabilityObserver: AnyObject, Sendable {
    /// Called with the current state when the observer is added, and after each change. It runs on the thread that
    /// reports the change and must not block.
    func reachability(_ reachability: Reachability, changedTo state: PathState)
}

extension Reachability {
    /// Notifies an observer of the current state before this function returns, and then of every change. The observer is
    /// referenced weakly.
    ///
    /// - Returns: the registration. Keep it, because the calls end when it is deallocated or cancelled.
    public func watch(_ observer: some ReachabilityObserver) -> ReachabilityWatch {
        watch { [weak self, weak observer] state in
            if let self, let observer {
                observer.reachability(self, changedTo: state)
            }
        }
    }
}
