#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif
import Dispatch
import NetKit

/// Handles SIGINT and similar signals. The first one cancels the transfers, so that no partial file remains; the second
/// one ends nk.
enum Interrupt {
    private struct State: Sendable {
        var caught: Int32?
        /// The number of pending waits for input.
        var waits = 0
        var cancel: (@Sendable () -> Void)?
    }

    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    /// The time in seconds in which a transfer must end. Its task may be blocked in a write that is never read.
    private static let graceSeconds = 2.0
    private static let state = Lock(State())

    // SAFETY: written once, before the handler that reads it is installed. libdispatch parks the main thread with every
    // signal unblocked, so sigwait(3) would miss some; a handler and a pipe receive all.
    fileprivate nonisolated(unsafe) static var pipeEnd: Int32 = -1

    /// Installs the handlers. A signal that was ignored when nk was started remains ignored.
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

    /// Also handles SIGINT if it was ignored when nk was started, as a shell does for background commands of a script.
    /// A server must end when it receives the signal.
    static func watchIgnored() {
        _ = signal(SIGINT, signalArrived)
    }

    /// Sets the action for the first signal.
    static func onFirst(_ cancel: @escaping @Sendable () -> Void) {
        state.withLock { $0.cancel = cancel }
    }

    /// The signal that ended the transfers.
    static var caught: Int32? { state.withLock { $0.caught } }

    /// While nk waits for input, a signal ends it immediately. Each call with true needs one with false.
    static func isWaiting(_ isWaiting: Bool) {
        state.withLock { $0.waits += isWaiting ? 1 : -1 }
    }

    /// Whether the first signal would end nk immediately.
    static var endsAtOnce: Bool { state.withLock { $0.waits > 0 } }

    /// Ends the process as the signal would have.
    static func die(of number: Int32) -> Never {
        Password.showAgain()
        OutputFile.discardAll()
        _ = signal(number, SIG_DFL)
        // Unblocks the signal in this thread. libdispatch's threads block every signal, and so does the main thread
        // between two waits. Otherwise no thread might receive it.
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

/// A signal handler may call only the functions listed in signal-safety(7).
private func signalArrived(_ number: Int32) {
    let before = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = unsafe write(Interrupt.pipeEnd, &byte, 1)
    errno = before
}
