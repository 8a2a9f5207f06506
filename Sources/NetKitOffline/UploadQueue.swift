public import NetKit

/// A queue of uploads that survives the end of the process. Each upload is written to a directory before it is sent. It
/// stays there until it has a response, and is sent by any process that opens the directory.
///
///     let queue = try UploadQueue(folder: path) { outcome in … }
///     Task { await agent.upload(queue) }                       // while the app runs
///     try await queue.add(Request<Void>("photos", method: .post, body: .file("/data/p.jpg")))
///
/// The process may end at any moment, for example by `kill -9` or a crash. An upload that was only partly written is
/// dropped; all others are found at the next start. An upload without a response is sent again.
///
/// Each upload has an `Idempotency-Key` field: the one of the request, or a generated one. The value stays the same in
/// all attempts and processes, so that the server can recognize an upload that it already received.
///
/// Only one queue at a time, in all processes, can use a directory. Uploads start in order, but several run
/// concurrently, so an upload may end before an earlier one. **Secrets are not written**, as with an ``OfflineQueue``;
/// `prepare` adds them before each attempt. Thread-safe.
public final class UploadQueue: Sendable {
    /// How the queue stores a body that is a file.
    public enum Keeping: Sendable, Hashable {
        /// Stores its path. The file must not change until the upload ends.
        case path
        /// Stores a copy in the queue's directory. The file may then change or be deleted.
        case copy
    }

    private let folder: QueueFolder
    private let lifetime: Duration
    private let rules: QueueRules
    let maxConcurrent: Int
    let time: TimeSource
    let prepare: @Sendable (inout Request<Bytes>) async throws(NetError) -> Void
    private let onOutcome: @Sendable (OfflineQueue.Outcome) -> Void
    let state: Lock<UploadState>

    /// Creates a queue with the uploads in a directory.
    ///
    /// Throws `NetError.Code.file` in these cases:
    /// - the directory cannot be used
    /// - another queue uses it, in this process or another
    /// - another user could have written the directory or a file in it
    /// - Parameters:
    ///   - folder: the directory of the uploads. It is created if it does not exist.
    ///   - maxConcurrent: the largest number of concurrent uploads (2), at least 1.
    ///   - lifetime: how long an upload is kept (a week).
    ///   - maxBodyBytes: the largest body that is written into the file of the upload (64 KiB). A larger body, or a
    ///     body that is produced while it is sent, gets a separate file in the directory.
    ///   - redaction: recognizes secrets.
    ///   - time: the source of time.
    ///   - onOutcome: called with the outcome of each upload, including those that an earlier process added.
    ///   - prepare: adds the omitted secrets to a request before each attempt. It can also set `Request.progress`.
    public init(
        folder: String, maxConcurrent: Int = 2, lifetime: Duration = .seconds(7 * 24 * 60 * 60),
        maxBodyBytes: Int = 64 << 10, redaction: Redaction = Redaction(), time: TimeSource = .system,
        onOutcome: @escaping @Sendable (OfflineQueue.Outcome) -> Void = { _ in },
        prepare: @escaping @Sendable (inout Request<Bytes>) async throws(NetError) -> Void = { _ in }
    ) throws(NetError) {
        self.folder = try QueueFolder(folder)
        self.maxConcurrent = max(1, maxConcurrent)
        self.lifetime = max(.zero, lifetime)
        self.time = time
        self.prepare = prepare
        self.onOutcome = onOutcome
        rules = QueueRules(maxBodyBytes: max(0, maxBodyBytes), redaction: redaction, isWanted: { _ in true })
        let (uploads, last) = try self.folder.load()
        var state = UploadState(uploads: uploads, last: last)
        for upload in uploads {
            // If the clock is before the time at which the upload was added, the clock is not set yet. The delay would
            // then be far too long.
            if let moment = upload.notBefore, upload.keptAt <= time.epochSeconds() {
                state.postpone(upload.id, at: time.now(), for: time.left(until: moment))
            }
        }
        self.state = Lock(state)
    }

    /// The uploads in the queue, in order.
    public var uploads: [QueuedRequest] { state.withLock { $0.uploads } }

    /// Adds an upload and writes it to disk. When this function returns, the upload survives a power failure.
    ///
    /// The URL may be relative to the base URL of the agent that will send it. Fields with secrets, credentials and
    /// request options are not written. Files, and bodies that are read while they are sent, are not searched for
    /// secrets.
    ///
    /// If this function throws, the upload is not added. It throws:
    /// - `NetError.Code.usage` for a secret in the URL, a form or JSON
    /// - `NetError.Code.usage` if the request has its own trust policy, proxy, Unix socket or address override
    /// - `NetError.Code.file` if the upload cannot be written
    /// - the errors of reading the body
    /// - Parameters:
    ///   - call: the request, with any method, or a value that creates one.
    ///   - keeping: how a body that is a file is stored.
    @discardableResult
    public func add(
        _ call: some RequestConvertible, keeping: Keeping = .path
    ) async throws(NetError) -> QueuedRequest {
        var upload = try await call.callRequest().erased
        try upload.applyParameters()
        if upload.headers["Idempotency-Key"] == nil {
            upload.headers["Idempotency-Key"] = Self.randomKey()
        }
        let record = try await withTaskExecutorPreference(DiskExecutor()) { [upload] () async throws(NetError) in
            try await write(upload, keeping)
        }
        let change = state.withLock { $0.insert(record) }
        change.fulfil(.success(()))
        return record
    }

    /// Writes the upload. If that fails, no file remains.
    @concurrent
    private func write(_ request: Request<Bytes>, _ keeping: Keeping) async throws(NetError) -> QueuedRequest {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        var upload = request
        do throws(NetError) {
            try await storeBody(of: &upload, id, keeping)
            if let refusal = rules.refusal(of: Call(upload)) {
                throw Self.refused(refusal)
            }
            let record = rules.record(upload, id: id, keptAt: time.epochSeconds(), lifetime: lifetime)
            try folder.write(record)
            return record
        } catch {
            folder.remove(id)
            throw error
        }
    }

    private static func refused(_ reason: String) -> NetError {
        NetError(.usage, "the upload cannot be stored: \(reason)")
    }

    /// Prepares the body for storage. A small body stays in memory and becomes part of the upload's record. A whole
    /// file keeps its path. Any other body is copied into a separate file.
    private func storeBody(
        of request: inout Request<Bytes>, _ id: Int, _ keeping: Keeping
    ) async throws(NetError) {
        guard let body = request.body else { return }
        if body.filePath != nil, keeping == .path, body.fileOffset == 0 {
            return
        }
        if let bytes = body.wholeBytes, bytes.count <= rules.maxBodyBytes {
            return
        }
        // The copy is a file, and files are not searched for secrets, so the body is searched now.
        if let secret = rules.secret(in: body, of: request) {
            throw Self.refused(secret)
        }
        try await folder.copy(body, for: id)
        var copy = Body.file(folder.bodyFile(id), contentType: body.contentType)
        copy.contentEncoding = body.contentEncoding
        request.body = copy
    }

    /// Removes an upload from the queue. Returns false if it is not in the queue. If it is being sent, the transfer
    /// continues.
    @discardableResult
    public func remove(_ id: QueuedRequest.ID) -> Bool {
        let (wasQueued, change) = state.withLock { state in
            let count = state.uploads.count
            state.uploads.removeAll { $0.id == id }
            state.delays[id] = nil
            return (state.uploads.count < count, state.renewChange())
        }
        if wasQueued {
            folder.remove(id)
        }
        change.fulfil(.success(()))
        return wasQueued
    }

    /// Removes an upload that has ended from the directory, then reports its outcome.
    func end(_ outcome: OfflineQueue.Outcome, of id: QueuedRequest.ID) {
        remove(id)
        onOutcome(outcome)
    }

    /// Delays the next attempt of an upload. The delay is the backoff or the server's Retry-After, whichever is longer.
    ///
    /// The Retry-After time is written to disk, so that other processes respect it too.
    func delay(_ upload: QueuedRequest, retryAfter: Duration?) {
        let now = time.now()
        let retryAfter = retryAfter.map { min($0, time.left(until: upload.expiresAt)) }
        let moment = retryAfter.map { time.epochSeconds() + $0 / .seconds(1) }
        let changed = state.withLock { state in
            state.delayAfterFailure(upload.id, at: now)
            if let retryAfter {
                state.postpone(upload.id, at: now, for: retryAfter)
            }
            return state.setNotBefore(moment, of: upload.id)
        }
        guard let changed else { return }
        // If writing fails, another process may try the upload too early, which is harmless.
        try? folder.write(changed)
        if !state.withLock({ $0.contains(upload.id) }) {
            folder.remove(upload.id)
        }
    }

    /// Returns 128 random bits as text. Two equal keys are as unlikely as two equal UUIDs.
    private static func randomKey() -> String {
        (0..<2).map { _ in
            let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

/// The uploads of a queue and their state.
struct UploadState: Sendable {
    /// The number of failures of an upload, and the time at which it may be tried again.
    struct Delay: Sendable {
        var failures: Int
        var until: Duration
    }

    /// The next action of a sending loop.
    enum Step: Sendable {
        case send(QueuedRequest)
        /// Wait until the promise is fulfilled because the queue has changed, or until this time has passed.
        case wait(Promise<Void>, Duration?)
        case end
    }

    var uploads: [QueuedRequest]
    var last: Int
    var inFlight: Set<Int> = []
    var delays: [Int: Delay] = [:]
    var isDraining = false
    /// Whether sending has to stop.
    var isStopping = false
    private var change = Promise<Void>()

    init(uploads: [QueuedRequest], last: Int) {
        self.uploads = uploads
        self.last = last
    }

    /// Inserts an upload in order. Returns the promise to fulfil for the waiting senders.
    mutating func insert(_ record: QueuedRequest) -> Promise<Void> {
        uploads.insert(record, at: uploads.firstIndex { $0.id > record.id } ?? uploads.count)
        return renewChange()
    }

    /// Returns the promise that the current waiters wait for, and creates a new one for later waiters.
    mutating func renewChange() -> Promise<Void> {
        defer { change = Promise() }
        return change
    }

    mutating func next(at now: Duration, untilEmpty: Bool) -> Step {
        if isStopping {
            return .end
        }
        let free = uploads.filter { !inFlight.contains($0.id) }
        if let first = free.first(where: { (delays[$0.id]?.until ?? .zero) <= now }) {
            inFlight.insert(first.id)
            return .send(first)
        }
        if uploads.isEmpty, untilEmpty {
            return .end
        }
        return .wait(change, free.compactMap { delays[$0.id]?.until }.min().map { $0 - now })
    }

    /// Records a failure, and delays the next attempt by the backoff.
    mutating func delayAfterFailure(_ id: Int, at now: Duration) {
        let failures = (delays[id]?.failures ?? 0) + 1
        delays[id] = Delay(failures: failures, until: now + QueueRules.backoff(after: failures))
    }

    /// Delays the next attempt by at least this time.
    mutating func postpone(_ id: Int, at now: Duration, for wait: Duration) {
        let failures = delays[id]?.failures ?? 0
        delays[id] = Delay(failures: failures, until: max(delays[id]?.until ?? .zero, now + wait))
    }

    /// Records the earliest time of the next attempt that a server requested. Returns the record to write, or `nil` if
    /// it is unchanged.
    mutating func setNotBefore(_ moment: Double?, of id: Int) -> QueuedRequest? {
        guard let index = uploads.firstIndex(where: { $0.id == id }), uploads[index].notBefore != moment else {
            return nil
        }
        uploads[index].notBefore = moment
        return uploads[index]
    }

    func contains(_ id: Int) -> Bool { uploads.contains { $0.id == id } }
}
