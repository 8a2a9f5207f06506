#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif
import Dispatch
import NetKit

/// Handles SIGINT and similar signals. The first signal cancels the transfers, so that no incomplete file remains. The
/// second one ends nk immediately.
enum Interrupt {
    private struct State: Sendable {
        var caught: Int32?
        /// The number of pending waits for input.
        var pendingWaits = 0
        var cancel: (@Sendable () -> Void)?
    }

    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    /// The time in seconds after the first signal in which the transfers must end. Then nk ends even if a task is still
    /// blocked, for example in a write to a pipe that is not read.
    private static let graceSeconds = 2.0
    private static let state = Lock(State())

    // SAFETY: this is written once, before the handler that reads it is installed. A handler and a pipe are used
    // instead of sigwait(3), which would miss signals: the main thread has no signal blocked.
    fileprivate nonisolated(unsafe) static var pipeEnd: Int32 = -1

    /// Installs the handlers. A signal that was ignored when nk was started remains ignored.
    ///
    /// - Parameter prepare: called on the thread that handles the signals, before the first one is handled.
    static func watch(after prepare: @escaping @Sendable () -> Void) {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { return }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        unsafe pipeEnd = ends[1]
        for number in signals {
            let previous = signal(number, signalArrived)
            if unsafe unsafeBitCast(previous, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
                _ = signal(number, SIG_IGN)
            }
        }
        let readEnd = ends[0]
        DispatchQueue(label: "nk.signals").async {
            prepare()
            var number: UInt8 = 0
            while unsafe read(readEnd, &number, 1) != 0 {
                if number > 0 {
                    arrived(Int32(number))
                }
                number = 0
            }
        }
    }

    /// Also handles SIGINT if it was ignored when nk was started. A shell ignores it for commands that a script runs in
    /// the background, but a server must end when it receives the signal.
    static func watchIgnored() {
        _ = signal(SIGINT, signalArrived)
    }

    /// Sets the action for the first signal.
    static func onFirst(_ cancel: @escaping @Sendable () -> Void) {
        state.withLock { $0.cancel = cancel }
    }

    /// The signal that cancelled the transfers, or `nil` if none has arrived.
    static var caught: Int32? { state.withLock { $0.caught } }

    /// Records that nk starts or stops waiting for input. While it waits, a signal ends it immediately. Each call with
    /// true must be followed by one with false.
    static func isWaiting(_ isWaiting: Bool) {
        state.withLock { $0.pendingWaits += isWaiting ? 1 : -1 }
    }

    /// Whether the first signal would end nk immediately.
    static var endsImmediately: Bool { state.withLock { $0.pendingWaits > 0 } }

    /// Ends the process as the signal would have.
    static func die(of number: Int32) -> Never {
        Password.showAgain()
        OutputFile.discardAll()
        _ = signal(number, SIG_DFL)
        // The signal is unblocked in this thread. Otherwise it might not be delivered immediately, because the threads
        // of libdispatch block all signals.
        var signalSet = sigset_t()
        unsafe sigemptyset(&signalSet)
        unsafe sigaddset(&signalSet, number)
        unsafe pthread_sigmask(SIG_UNBLOCK, &signalSet, nil)
        raise(number)
        _exit(128 + number)
    }

    private static func arrived(_ number: Int32) {
        let cancel: (@Sendable () -> Void)? = state.withLock { state in
            defer { state.caught = number }
            return state.caught != nil || state.pendingWaits > 0 ? nil : state.cancel
        }
        guard let cancel else { die(of: number) }
        cancel()
        DispatchQueue.global().asyncAfter(deadline: .now() + graceSeconds) { die(of: number) }
    }
}

/// A signal handler may call only the functions listed in signal-safety(7).
private func signalArrived(_ number: Int32) {
    let previous = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = unsafe write(Interrupt.pipeEnd, &byte, 1)
    errno = previous
}
