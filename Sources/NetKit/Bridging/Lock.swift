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

    /// Runs `body` with exclusive access to the state. `body` must neither block nor call code outside this type's
    /// user.
    package func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
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

/// A suspended task that waits for an event.
///
/// It contains an unchecked continuation, because the allocation and bookkeeping of a checked one cost about 2 % of a
/// small request. The state of the waiter's owner ensures that each waiter is removed, and so resumed, exactly once.
/// The owner stores the result separately, under its lock.
@safe struct Waiter: Sendable {
    // SAFETY: the owner stores the waiter in a state behind a lock, and removes it in the step that ends that state.
    private let continuation: UnsafeContinuation<Void, Never>

    /// Suspends the task until the waiter that `body` receives is resumed.
    static func wait(_ body: (Waiter) -> Void) async {
        await unsafe withUnsafeContinuation { unsafe body(Waiter(continuation: $0)) }
    }

    /// Resumes the task. Must be called exactly once.
    func resume() {
        unsafe continuation.resume()
    }
}

/// Runs an operation like `withTaskCancellationHandler(operation:onCancel:)`, but always on the caller's executor.
/// Called from an actor, the standard function would switch threads before and after the operation.
@inline(__always)
func cancelling<Value>(
    _ onCancel: @Sendable () -> Void, isolation: isolated (any Actor)? = #isolation, _ operation: () async -> Value
) async -> Value {
    await withTaskCancellationHandler {
        _ = isolation  // Capturing `isolation` keeps the closure on the caller's actor.
        return await operation()
    } onCancel: {
        onCancel()
    }
}
