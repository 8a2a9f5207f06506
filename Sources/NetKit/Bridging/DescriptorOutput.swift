internal import Dispatch

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Writes a response's body to an open file descriptor: a file, a pipe, a socket.
///
/// If the descriptor is seekable, the body can start again: the file is truncated to its initial position. Writing runs
/// on a separate queue, so a slow reader of a pipe blocks no other work. A failed write ends the request with
/// ``NetError/Code/file`` and its errno in ``NetError/nativeCode``. A closed reader causes `EPIPE`, and no signal. The
/// descriptor belongs to the caller and is not closed. One request at a time. Thread-safe.
public final class DescriptorOutput: BodyOutput {
    /// The bytes that a writable pipe accepts without blocking (POSIX: PIPE_BUF is at least 512).
    private static let pipeBytes = 512
    private static let fileBytes = 1 << 20

    private let descriptor: Int32
    /// The initial position; `nil` if the descriptor is not seekable.
    private let start: off_t?
    private let queue = DispatchQueue(label: "NetKit.DescriptorOutput")

    /// Creates an output to this descriptor, from its current position.
    public init(_ descriptor: Int32) {
        self.descriptor = descriptor
        let offset = lseek(descriptor, 0, SEEK_CUR)
        start = offset < 0 ? nil : offset
    }

    /// Writes all bytes, in as many calls as needed; stops between calls when the task is cancelled.
    public func write(_ bytes: Bytes) async throws {
        let isCancelled = Lock(false)
        let error = await withTaskCancellationHandler {
            await onQueue { self.writeAll(bytes) { isCancelled.withLock { $0 } } }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
        if let error {
            throw error
        }
    }

    /// Truncates the file to its initial position. Throws ``NetError/Code/notRewindable`` if that is not possible.
    public func startOver() async throws {
        let error = await onQueue { [descriptor, start] () -> NetError? in
            guard let start, ftruncate(descriptor, start) == 0, lseek(descriptor, start, SEEK_SET) == start else {
                return NetError(
                    .notRewindable, "the body begins anew, and what was written cannot be taken back",
                    nativeCode: Int(errno))
            }
            return nil
        }
        if let error {
            throw error
        }
    }

    private func onQueue(_ body: @escaping @Sendable () -> NetError?) async -> NetError? {
        // Through a lock, whose ordering the thread sanitizer sees; it does not see that of a continuation.
        let outcome = Lock(NetError?.none)
        await withCheckedContinuation { continuation in
            queue.async {
                let error = body()
                outcome.withLock { $0 = error }
                continuation.resume()
            }
        }
        return outcome.withLock { $0 }
    }

    private func writeAll(_ bytes: Bytes, _ isCancelled: () -> Bool) -> NetError? {
        var offset = 0
        while offset < bytes.count {
            if isCancelled() {
                return NetError(.cancelled, "the task was cancelled while it wrote")
            }
            // A descriptor that is not seekable may block: it is polled first, so that the wait can end.
            if start == nil, !isReady() {
                continue
            }
            let limit = start == nil ? Self.pipeBytes : Self.fileBytes
            let count = bytes.withSpan { span in
                let piece = span.extracting(offset..<min(span.count, offset + limit))
                return unsafe piece.withUnsafeBytes { unsafe quietWrite(descriptor, $0) }
            }
            if count < 0, errno != EINTR, errno != EAGAIN {
                return NetError(system: errno, "the body cannot be written")
            }
            offset += max(0, count)
        }
        return nil
    }

    /// Waits briefly for room. poll() ignores a negative descriptor: the write then reports the error.
    private func isReady() -> Bool {
        if descriptor < 0 {
            return true
        }
        var asked = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&asked, 1, 100) > 0
    }
}

/// Writes without SIGPIPE: a closed reader is an error, with any signal handling of the process.
private func quietWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    var pipes = sigset_t()
    var before = sigset_t()
    var waiting = sigset_t()
    unsafe sigemptyset(&pipes)
    unsafe sigaddset(&pipes, SIGPIPE)
    unsafe sigpending(&waiting)
    let wasPending = unsafe sigismember(&waiting, SIGPIPE) == 1
    unsafe pthread_sigmask(SIG_BLOCK, &pipes, &before)
    let count = unsafe write(descriptor, bytes.baseAddress, bytes.count)
    let code = errno
    if count < 0, code == EPIPE, !wasPending {
        unsafe takePending(&pipes)
    }
    unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
    errno = code
    return count
}

private func takePending(_ signals: UnsafePointer<sigset_t>) {
    #if os(Linux)
    var moment = timespec()
    _ = unsafe sigtimedwait(signals, nil, &moment)
    #else
    var number: Int32 = 0
    _ = unsafe sigwait(signals, &number)
    #endif
}
