#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// State that one thread at a time can access.
///
/// A pthread mutex instead of `Synchronization.Mutex`: the thread sanitizer does not see the standard library's lock.
/// It would report every guarded access and hide true races.
@safe package struct Lock<State: Sendable>: Sendable {
    // SAFETY: only withLock accesses the storage's state, with the mutex locked.
    private nonisolated(unsafe) let storage: LockStorage<State>

    /// Creates a lock around this state.
    package init(_ state: State) {
        let buffer = unsafe LockStorage<State>.create(minimumCapacity: 1) { _ in state }
        unsafe storage = unsafe unsafeDowncast(buffer, to: LockStorage<State>.self)
        unsafe storage.withUnsafeMutablePointerToElements { mutex in
            unsafe mutex.initialize(to: pthread_mutex_t())
            _ = unsafe pthread_mutex_init(mutex, nil)
        }
    }

    /// Runs `body` with exclusive access; it must neither block nor call other components.
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
