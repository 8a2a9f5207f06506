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
/// Where the descriptor's offset can be set, the body may begin anew: the file is cut to where it was at first. Writing
/// waits on a queue of its own, so that a slow reader of a pipe holds no thread that others need. A write that fails ends
/// the request with ``NetError/Code/file`` and its errno in ``NetError/nativeCode``; a reader that is gone is `EPIPE`, and
/// no signal. The descriptor is the caller's: it is not closed. One request at a time. Thread-safe.
public final class DescriptorOutput: BodyOutput {
    /// What a pipe that can be written to takes without waiting (POSIX: PIPE_BUF is at least 512).
    private static let pipeBytes = 512
    private static let fileBytes = 1 << 20

    private let descriptor: Int32
    /// Where it began; nil of what has no offset.
    private let start: off_t?
    private let queue = DispatchQueue(label: "NetKit.DescriptorOutput")

    /// An output to this descriptor, from its offset on.
    public init(_ descriptor: Int32) {
        self.descriptor = descriptor
        let offset = lseek(descriptor, 0, SEEK_CUR)
        start = offset < 0 ? nil : offset
    }

    /// Writes every byte, however many calls that takes; stops between them when the task is cancelled.
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

    /// Cuts the file to where it was; throws ``NetError/Code/notRewindable`` where that cannot be done.
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
        // By way of a lock, whose order the thread sanitizer sees: that of a continuation it does not.
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
            // What has no offset may wait for its reader: it is asked first, so that the wait can end.
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

    /// Waits a moment for room. A number below 0 poll() passes over: the write tells what is wrong with it.
    private func isReady() -> Bool {
        if descriptor < 0 {
            return true
        }
        var asked = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&asked, 1, 100) > 0
    }
}

/// Writes, and a reader who is gone is an error and no signal, whatever the process does with SIGPIPE.
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
