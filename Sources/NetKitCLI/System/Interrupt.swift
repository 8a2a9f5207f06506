#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif
import Dispatch
import Synchronization

/// Ctrl-C and its kin: the first one ends the transfers, so that no half file stays; the second one ends nk.
enum Interrupt {
    private struct State {
        var caught: Int32?
        var isWaiting = false
        var cancel: (@Sendable () -> Void)?
    }

    private static let signals = [SIGINT, SIGTERM, SIGHUP]
    /// How long a transfer may take to end, in seconds: its task may hang in a write that nobody reads.
    private static let graceSeconds = 2.0
    private static let state = Mutex(State())

    /// Before any other thread begins: they inherit the mask, and one thread waits for the signals.
    static func watch() {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for signal in signals {
            unsafe sigaddset(&set, signal)
        }
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        DispatchQueue(label: "nk.signals").async {
            while true {
                var number: Int32 = 0
                var set = sigset_t()
                unsafe sigemptyset(&set)
                for signal in signals {
                    unsafe sigaddset(&set, signal)
                }
                if unsafe sigwait(&set, &number) == 0 {
                    arrived(number)
                }
            }
        }
    }

    /// What the first signal does.
    static func onFirst(_ cancel: @escaping @Sendable () -> Void) {
        state.withLock { $0.cancel = cancel }
    }

    /// The signal that ended the transfers.
    static var caught: Int32? { state.withLock { $0.caught } }

    /// While somebody is waited for, a signal ends nk at once.
    static func isWaiting(_ isWaiting: Bool) {
        state.withLock { $0.isWaiting = isWaiting }
    }

    /// Ends the process as the signal would have.
    static func die(of number: Int32) -> Never {
        Password.showAgain()
        OutputFile.discardAll()
        _ = signal(number, SIG_DFL)
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, number)
        unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(number)
        _exit(128 + number)
    }

    private static func arrived(_ number: Int32) {
        let cancel: (@Sendable () -> Void)? = state.withLock { state in
            defer { state.caught = number }
            return state.caught != nil || state.isWaiting ? nil : state.cancel
        }
        guard let cancel else { die(of: number) }
        cancel()
        DispatchQueue.global().asyncAfter(deadline: .now() + graceSeconds) { die(of: number) }
    }
}
