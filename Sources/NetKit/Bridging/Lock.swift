#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// State that one thread at a time may touch.
///
/// A pthread mutex and not `Synchronization.Mutex`: the thread sanitizer cannot see into the standard library's own
/// lock, so with it every guarded access would be reported and a true race would drown.
@safe package struct Lock<State: Sendable>: Sendable {
    // SAFETY: the storage's state is touched by withLock alone, while the mutex is held.
    private nonisolated(unsafe) let storage: LockStorage<State>

    /// A lock around this state.
    package init(_ state: State) {
        let buffer = unsafe LockStorage<State>.create(minimumCapacity: 1) { _ in state }
        unsafe storage = unsafe unsafeDowncast(buffer, to: LockStorage<State>.self)
        unsafe storage.withUnsafeMutablePointerToElements { mutex in
            unsafe mutex.initialize(to: pthread_mutex_t())
            _ = unsafe pthread_mutex_init(mutex, nil)
        }
    }

    /// Runs `body` alone; it must neither block nor call out.
    package func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        unsafe storage.withUnsafeMutablePointers { state, mutex in
            unsafe pthread_mutex_lock(mutex)
            defer { unsafe pthread_mutex_unlock(mutex) }
            return unsafe body(&state.pointee)
        }
    }
}

/// One allocation for the state and its mutex, at an address that never changes.
@unsafe private final class LockStorage<State: Sendable>: ManagedBuffer<State, pthread_mutex_t> {
    deinit {
        _ = unsafe withUnsafeMutablePointerToElements { unsafe pthread_mutex_destroy($0) }
    }
}
