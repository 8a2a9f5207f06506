#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// State that only one thread at a time can access.
///
/// This uses a pthread mutex instead of `Synchronization.Mutex`, because the thread sanitizer does not detect the
/// latter. It would report every guarded access as a race and so hide true races.
@safe struct Lock<State: Sendable>: Sendable {
    // SAFETY: only withLock accesses the storage's state, with the mutex locked.
    private nonisolated(unsafe) let storage: LockStorage<State>

    /// Creates a lock around this state.
    init(_ state: State) {
        let buffer = unsafe LockStorage<State>.create(minimumCapacity: 1) { _ in state }
        unsafe storage = unsafe unsafeDowncast(buffer, to: LockStorage<State>.self)
        unsafe storage.withUnsafeMutablePointerToElements { mutex in
            unsafe mutex.initialize(to: pthread_mutex_t())
            _ = unsafe pthread_mutex_init(mutex, nil)
        }
    }

    /// Runs `body` with exclusive access to the state. `body` must neither block nor call code outside this type's
    /// user.
    func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        unsafe storage.withUnsafeMutablePointers { state, mutex in
            unsafe pthread_mutex_lock(mutex)
            defer { unsafe pthread_mutex_unlock(mutex) }
            return unsafe body(&state.pointee)
        }
    }
}

/// The state and its mutex in one allocation, whose address never changes.
@unsafe private final class LockStorage<State: Sendable>: ManagedBuffer<State, pthread_mutex_t> {
    deinit {
        _ = unsafe withUnsafeMutablePointerToElements { unsafe pthread_mutex_destroy($0) }
    }
}
