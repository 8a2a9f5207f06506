#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif
import Dispatch
import NetKit

/// Ctrl-C and its kin: the first one ends the transfers, so that no half file stays; the second one ends nk.
enum Interrupt {
    private struct State: Sendable {
        var caught: Int32?
        /// How many wait for somebody.
        var waits = 0
        var cancel: (@Sendable () -> Void)?
    }

    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    /// How long a transfer may take to end, in seconds: its task may hang in a write that nobody reads.
    private static let graceSeconds = 2.0
    private static let state = Lock(State())

    // SAFETY: written once, before the handler is installed that reads it. libdispatch parks the main thread with every
    // signal unblocked, so sigwait(3) would not see them all: a handler and a pipe do.
    fileprivate nonisolated(unsafe) static var pipeEnd: Int32 = -1

    /// Begins to listen. A signal that nk was started to ignore stays ignored.
    static func watch() {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { return }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        unsafe pipeEnd = ends[1]
        for number in signals {
            let before = signal(number, signalArrived)
            if unsafe unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
                _ = signal(number, SIG_IGN)
            }
        }
        let readEnd = ends[0]
        DispatchQueue(label: "nk.signals").async {
            var number: UInt8 = 0
            while unsafe read(readEnd, &number, 1) != 0 {
                if number > 0 {
                    arrived(Int32(number))
                }
                number = 0
            }
        }
    }

    /// Listens to SIGINT also when nk was started to ignore it, as a shell starts what a script sends to the background:
    /// a server that is sent the signal by its number is meant to end.
    static func watchIgnored() {
        _ = signal(SIGINT, signalArrived)
    }

    /// What the first signal does.
    static func onFirst(_ cancel: @escaping @Sendable () -> Void) {
        state.withLock { $0.cancel = cancel }
    }

    /// The signal that ended the transfers.
    static var caught: Int32? { state.withLock { $0.caught } }

    /// While somebody is waited for, a signal ends nk at once. Each beginning has its end.
    static func isWaiting(_ isWaiting: Bool) {
        state.withLock { $0.waits += isWaiting ? 1 : -1 }
    }

    /// Whether the first signal would end nk at once.
    static var endsAtOnce: Bool { state.withLock { $0.waits > 0 } }

    /// Ends the process as the signal would have.
    static func die(of number: Int32) -> Never {
        Password.showAgain()
        OutputFile.discardAll()
        _ = signal(number, SIG_DFL)
        // This thread takes it: libdispatch's own block every signal, and the main thread does between two waits, so that
        // one for the process may come when nobody waits for it any more.
        var one = sigset_t()
        unsafe sigemptyset(&one)
        unsafe sigaddset(&one, number)
        unsafe pthread_sigmask(SIG_UNBLOCK, &one, nil)
        raise(number)
        _exit(128 + number)
    }

    private static func arrived(_ number: Int32) {
        let cancel: (@Sendable () -> Void)? = state.withLock { state in
            defer { state.caught = number }
            return state.caught != nil || state.waits > 0 ? nil : state.cancel
        }
        guard let cancel else { die(of: number) }
        cancel()
        DispatchQueue.global().asyncAfter(deadline: .now() + graceSeconds) { die(of: number) }
    }
}

/// In the handler nothing may be called but what signal-safety(7) lists.
private func signalArrived(_ number: Int32) {
    let before = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = unsafe write(Interrupt.pipeEnd, &byte, 1)
    errno = before
}
