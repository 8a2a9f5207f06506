#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A system call that failed.
struct SystemError: Error {
    let number: Int32
    var message: String { unsafe String(cString: strerror(number)) }
    var isBrokenPipe: Bool { number == EPIPE }
    var isMissingFile: Bool { number == ENOENT }
    var isExistingFile: Bool { number == EEXIST }
}

/// Writes to the standard streams. FoundationEssentials has no FileHandle.
enum Terminal {
    static let standardOutput: Int32 = 1
    static let standardError: Int32 = 2

    /// Makes a write to a closed pipe fail with an error instead of a signal.
    static func ignoreBrokenPipes() {
        _ = signal(SIGPIPE, SIG_IGN)
    }

    /// Writes all bytes, with several calls if necessary.
    static func write(_ bytes: Span<UInt8>, to descriptor: Int32) throws(SystemError) {
        let number: Int32 = unsafe bytes.withUnsafeBytes { buffer in
            var remaining = unsafe buffer[...]
            while unsafe !remaining.isEmpty {
                let piece = unsafe UnsafeRawBufferPointer(rebasing: remaining)
                let count = unsafe systemWrite(descriptor, piece.baseAddress, piece.count)
                if count < 0 && errno == EAGAIN {
                    waitUntilWritable(descriptor)
                } else if count < 0 && errno != EINTR {
                    return errno
                } else if count > 0 {
                    unsafe remaining = remaining.dropFirst(count)
                }
            }
            return 0
        }
        if number != 0 {
            throw SystemError(number: number)
        }
    }

    static func write(_ text: String, to descriptor: Int32) throws(SystemError) {
        try write(Array(text.utf8).span, to: descriptor)
    }

    /// Writes a line to standard error. If writing fails, the error is ignored.
    static func complain(_ line: String) {
        try? write(line + "\n", to: standardError)
    }

    /// Whether standard output gets colours. It must be a terminal that supports them, and NO_COLOR must not be set
    /// (no-color.org).
    static var hasColours: Bool {
        func variable(_ name: String) -> String { unsafe getenv(name).map { unsafe String(cString: $0) } ?? "" }
        return isatty(standardOutput) == 1 && variable("NO_COLOR").isEmpty && variable("TERM") != "dumb"
    }

    /// Ends the process without exit handlers. Nothing is buffered, and the agents have ended their transfers. The
    /// handlers of the libraries would free memory that the system frees anyway.
    static func end(_ code: Int32) -> Never {
        _exit(code)
    }

    private static func waitUntilWritable(_ descriptor: Int32) {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&waiting, 1, -1)
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe write(descriptor, bytes, count)
}
