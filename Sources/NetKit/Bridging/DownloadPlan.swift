#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The settings and the state of one download: its destination, its options, and the current attempt.
final class DownloadPlan: Sendable {
    /// The operations on the current download.
    struct Operations: Sendable {
        let pause: @Sendable () -> Void
        let resume: @Sendable () -> Void
        let setPriority: @Sendable (Priority) -> Void
    }

    private struct State: Sendable {
        var operations: Operations?
        var isPaused = false
        var priority: Priority?
        /// Whether the current attempt has ended.
        var isOver = false
        var file: DownloadedFile?
        var token: ResumeToken?
        var headHandler: HeadHandler?
    }

    /// A hook that decides, by the response head, what happens to the body.
    typealias HeadHandler = @Sendable (ResponseHead) async throws(NetError) -> ResponseDisposition

    let path: String
    let options: DownloadOptions
    /// Closures that choose the destination. They are called in this order until one returns a path.
    let destinations: [DownloadDestination]
    private let state: Lock<State>

    init(
        path: String, options: DownloadOptions, destinations: [DownloadDestination], token: ResumeToken? = nil
    ) {
        state = Lock(State(token: token))
        self.path = path
        self.options = options
        self.destinations = destinations
    }

    /// The hook for the response head, which is called before the destinations; `nil` if there is none.
    var headHandler: HeadHandler? {
        get { state.withLock { $0.headHandler } }
        set { state.withLock { $0.headHandler = newValue } }
    }

    /// Whether a hook or a destination closure must be called when the head has arrived.
    var needsDecision: Bool { !destinations.isEmpty || headHandler != nil }

    /// Returns the destination that the hook or a closure chooses, or `nil` to use ``path``. Throws if the transfer
    /// must end.
    func destination(for head: ResponseHead) async throws(NetError) -> String? {
        switch try await headHandler?(head) {
        case .cancel: throw NetError(.cancelled, "the response head hook cancelled the transfer")
        case .download(""): throw NetError(.usage, "the response head hook returned an empty path for the download")
        case .download(let path): return path
        case .allow, .stream, nil: break
        }
        for destination in destinations {
            if let destinationPath = await destination(head) {
                return destinationPath
            }
        }
        return nil
    }

    /// Prepares for a new attempt. Must be called before the attempt is started, because the attempt may end before
    /// ``began(_:)`` is called.
    func prepareAttempt() {
        state.withLock { state in
            state.file = nil
            state.isOver = false
        }
    }

    /// Stores the operations of an attempt that has started, and applies the pause and the priority that were set
    /// before.
    func began(_ operations: Operations) {
        let (isPaused, priority) = state.withLock { state -> (Bool, Priority?) in
            if state.isOver {
                return (false, nil)
            }
            state.operations = operations
            state.token = nil
            return (state.isPaused, state.priority)
        }
        if isPaused {
            operations.pause()
            // If another thread has resumed the download meanwhile, its command may have come before this pause.
            if !state.withLock({ $0.isPaused }) {
                operations.resume()
            }
        }
        if let priority {
            operations.setPriority(priority)
        }
    }

    /// Records the end of an attempt and its results.
    func ended(file: DownloadedFile?, token: ResumeToken?) {
        state.withLock { state in
            state.operations = nil
            state.isOver = true
            state.file = file
            state.token = token
        }
    }

    /// The file of the successful attempt.
    var file: DownloadedFile? { state.withLock { $0.file } }

    /// The resume token of the last attempt.
    var token: ResumeToken? { state.withLock { $0.token } }

    func setPaused(_ isPaused: Bool) {
        let operations = state.withLock { state in
            state.isPaused = isPaused
            return state.operations
        }
        isPaused ? operations?.pause() : operations?.resume()
    }

    func setPriority(_ priority: Priority) {
        let operations = state.withLock { state in
            state.priority = priority
            return state.operations
        }
        operations?.setPriority(priority)
    }
}

extension Request {
    /// The download settings; `nil` if the request is not a download.
    var download: DownloadPlan? {
        get { callSettings?.value.downloadPlan }
        set { settings.downloadPlan = newValue }
    }
}

/// A download with a transport that supports only saving. The transport saves the body to a temporary file beside the
/// destination. This object then checks the file by the download's settings and moves it.
final class DownloadRecord: Sendable {
    private let plan: DownloadPlan
    /// The path of the temporary file that the transport writes.
    let path: String

    init(_ plan: DownloadPlan) throws(NetError) {
        try plan.options.check()
        self.plan = plan
        path = WholeFile.nameBeside(Self.isDirectory(plan.path) ? "\(plan.path)/" : plan.path)
        if !plan.needsDecision {
            try checkDestination(plan.path)
        }
    }

    deinit {
        _ = unsafe unlink(path)
    }

    /// Moves the file to its destination if it passes the checks.
    func moveFile(_ response: Response<Bytes>) async throws(NetError) -> DownloadedFile {
        let head = ResponseHead(
            status: response.status, headers: response.headers, httpVersion: response.httpVersion, url: response.url)
        let destinationPath = try await plan.destination(for: head) ?? plan.path
        try checkDestination(destinationPath)
        try await check(plan.options.sha256, .sha256, "SHA-256")
        try await check(plan.options.md5, .md5, "MD5")
        if unsafe rename(path, destinationPath) != 0 {
            throw NetError(system: errno, "'\(destinationPath)' cannot be replaced")
        }
        return DownloadedFile(path: destinationPath, byteCount: response.metrics.last?.decodedBytes ?? 0)
    }

    private func checkDestination(_ destinationPath: String) throws(NetError) {
        if Self.isDirectory(destinationPath) {
            throw NetError(.usage, "'\(destinationPath)' is a folder: this transport requires the path of a file")
        }
        try WholeFile.checkDestination(destinationPath)
        if plan.options.overwrite == false, unsafe access(destinationPath, F_OK) == 0 {
            throw NetError(system: EEXIST, "'\(destinationPath)' exists already")
        }
    }

    private func check(
        _ expected: Bytes?, _ algorithm: Digest.Algorithm, _ name: String
    ) async throws(NetError) {
        guard let expected else { return }
        var digest = try Digest(algorithm)
        try await Body.file(path).forEachPiece { digest.update($0) }
        let found = try digest.finish()
        if found != expected {
            throw NetError(.digestMismatch, "the file's \(name) is \(found.hexText), not \(expected.hexText)")
        }
    }

    private static func isDirectory(_ path: String) -> Bool {
        var found = stat()
        return path.hasSuffix("/") || (unsafe stat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFDIR)
    }
}
