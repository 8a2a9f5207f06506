internal import Dispatch

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Writes a response's body to an open file descriptor, such as a file, a pipe or a socket.
///
/// If the descriptor is seekable, the body can be restarted; the file is then truncated to the initial position of the
/// descriptor. Writing runs on a separate queue, so a slow reader of a pipe blocks no other work.
///
/// If a write fails, the request ends with ``NetError/Code/file`` and the errno in ``NetError/nativeCode``. If the
/// reader of a pipe or socket is closed, the errno is `EPIPE`, and SIGPIPE is not raised.
///
/// The caller owns the descriptor and closes it. Only one request at a time may use an output. Thread-safe.
public final class DescriptorOutput: BodyOutput {
    /// The number of bytes that a writable pipe accepts without blocking. POSIX guarantees that PIPE_BUF is at least
    /// 512.
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

    /// Writes all bytes, with several system calls if necessary. If the task is cancelled, it stops before the next
    /// system call.
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
                    .notRewindable, "the body restarts at its first byte, but written bytes cannot be discarded",
                    nativeCode: Int(errno))
            }
            return nil
        }
        if let error {
            throw error
        }
    }

    private func onQueue(_ body: @escaping @Sendable () -> NetError?) async -> NetError? {
        // The result is passed through a lock, because the thread sanitizer does not detect the ordering that a
        // continuation guarantees.
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
                return NetError(.cancelled, "cancelled while the body was written")
            }
            // A write to a pipe or socket could block. poll() waits with a timeout instead, so that a cancellation is
            // noticed.
            if start == nil, !isReady() {
                continue
            }
            let limit = start == nil ? Self.pipeBytes : Self.fileBytes
            let count = bytes.withSpan { span in
                let piece = span.extracting(offset..<min(span.count, offset + limit))
                return unsafe piece.withUnsafeBytes { unsafe quietWrite(descriptor, $0) }
            }
            if count < 0, errno != EINTR, errno != EAGAIN {
                return NetError(system: errno, "cannot write the body to the file descriptor")
            }
            offset += max(0, count)
        }
        return nil
    }

    /// Waits briefly until the descriptor is writable. poll() ignores a negative descriptor, so this returns true for
    /// one, and the write reports the error.
    private func isReady() -> Bool {
        if descriptor < 0 {
            return true
        }
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&request, 1, 100) > 0
    }
}

/// Writes without raising SIGPIPE, regardless of the signal handling of the process. If the reader is closed, the write
/// fails with EPIPE.
private func quietWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    var pipeSignal = sigset_t()
    var previousMask = sigset_t()
    var pending = sigset_t()
    unsafe sigemptyset(&pipeSignal)
    unsafe sigaddset(&pipeSignal, SIGPIPE)
    unsafe sigpending(&pending)
    let wasPending = unsafe sigismember(&pending, SIGPIPE) == 1
    unsafe pthread_sigmask(SIG_BLOCK, &pipeSignal, &previousMask)
    let count = unsafe write(descriptor, bytes.baseAddress, bytes.count)
    let code = errno
    if count < 0, code == EPIPE, !wasPending {
        unsafe consumePending(&pipeSignal)
    }
    unsafe pthread_sigmask(SIG_SETMASK, &previousMask, nil)
    errno = code
    return count
}

private func consumePending(_ signals: UnsafePointer<sigset_t>) {
    #if os(Linux)
    var noTime = timespec()
    _ = unsafe sigtimedwait(signals, nil, &noTime)
    #else
    var number: Int32 = 0
    _ = unsafe sigwait(signals, &number)
    #endif
}
