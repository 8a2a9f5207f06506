/// A queue of uploads that survive the end of the process. Each upload is written to a directory before it is sent. It
/// is sent until it has a response, by the process that uses the directory at the time.
///
///     let queue = try UploadQueue(folder: path) { outcome in … }
///     Task { await agent.upload(queue) }                       // while the app runs
///     try await queue.add(Request<Void>("photos", method: .post, body: .file("/data/p.jpg")))
///
/// A process may end at any moment, by `kill -9` or a crash. At the next start each added upload is found, complete or
/// not at all. It is sent again unless it had a response. Each upload has an `Idempotency-Key`, its own or a generated
/// one, so that a server can recognize a retry. It is the same in every attempt of every process.
///
/// Only one queue in all processes can use a directory. Uploads begin in order and several run concurrently, so one may
/// overtake another. **Secrets are not written**, as with an ``OfflineQueue``: `prepare` adds them. Thread-safe.
public final class UploadQueue: Sendable {
    /// The outcome of an upload that has left the queue.
    public typealias Outcome = OfflineQueue.Outcome

    /// How the queue stores a file that is a body.
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
    private let onOutcome: @Sendable (Outcome) -> Void
    let state: Lock<UploadState>

    /// Creates a queue with the uploads in the directory, which is created if necessary.
    ///
    /// Throws ``NetError/Code/file`` in these cases:
    /// - the directory cannot be used
    /// - another queue uses it, in this process or another
    /// - another user could have written the directory or a file in it
    /// - Parameters:
    ///   - folder: the directory of the uploads; created if necessary.
    ///   - maxConcurrent: the largest number of concurrent uploads (2), at least 1.
    ///   - lifetime: how long an upload is kept (a week).
    ///   - maxBodyBytes: the largest body in memory that is written into the upload's record (64 KiB). A larger one,
    ///     and one that is put together while it is sent, gets its own file in the directory.
    ///   - redaction: recognizes secrets.
    ///   - time: the source of time.
    ///   - prepare: adds what was omitted, before each attempt. It can also set ``Request/progress``.
    ///   - onOutcome: called with the outcome of each upload, including those that an earlier process added.
    public init(
        folder: String, maxConcurrent: Int = 2, lifetime: Duration = .seconds(7 * 24 * 60 * 60),
        maxBodyBytes: Int = 64 << 10, redaction: Redaction = Redaction(), time: TimeSource = .system,
        prepare: @escaping @Sendable (inout Request<Bytes>) async throws(NetError) -> Void = { _ in },
        onOutcome: @escaping @Sendable (Outcome) -> Void
    ) throws(NetError) {
        self.folder = try QueueFolder(folder)
        self.maxConcurrent = max(1, maxConcurrent)
        self.lifetime = max(.zero, lifetime)
        self.time = time
        self.prepare = prepare
        self.onOutcome = onOutcome
        rules = QueueRules(maxBodyBytes: max(0, maxBodyBytes), redaction: redaction, isWanted: { _ in true })
        let (kept, last) = try self.folder.load()
        var state = UploadState(kept: kept, last: last)
        for upload in kept {
            // A clock before the time of the upload is not set yet. It would delay the upload for years.
            if let moment = upload.notBefore, upload.keptAt <= time.epochSeconds() {
                state.postpone(upload.id, at: time.now(), for: time.left(until: moment))
            }
        }
        self.state = Lock(state)
    }

    /// Creates a queue without a handler for outcomes.
    ///
    /// The other initializer is preferred where both match. So a trailing closure is `onOutcome` and not `prepare`.
    @_disfavoredOverload
    public convenience init(
        folder: String, maxConcurrent: Int = 2, lifetime: Duration = .seconds(7 * 24 * 60 * 60),
        maxBodyBytes: Int = 64 << 10, redaction: Redaction = Redaction(), time: TimeSource = .system,
        prepare: @escaping @Sendable (inout Request<Bytes>) async throws(NetError) -> Void = { _ in }
    ) throws(NetError) {
        try self.init(
            folder: folder, maxConcurrent: maxConcurrent, lifetime: lifetime, maxBodyBytes: maxBodyBytes,
            redaction: redaction, time: time, prepare: prepare, onOutcome: { _ in })
    }

    /// The uploads in the queue, in order.
    public var uploads: [QueuedRequest] { state.withLock { $0.kept } }

    /// Writes an upload to disk. When this returns, it survives a power failure.
    ///
    /// Its URL may be relative to the base of the agent that will send it. Fields with secrets, credentials and request
    /// options are omitted. Files, and bodies that are read while they are sent, are not searched for secrets.
    ///
    /// If it throws, nothing is kept. It throws:
    /// - ``NetError/Code/usage`` for a secret in the URL, a form or JSON
    /// - ``NetError/Code/usage`` for a trust policy, proxy or address of the request
    /// - ``NetError/Code/file`` if the upload cannot be written
    /// - the errors of reading the body
    /// - Parameters:
    ///   - request: the request, with any method.
    ///   - keeping: how a body that is a file is stored.
    @discardableResult
    public func add(
        _ request: Request<some Sendable>, keeping: Keeping = .path
    ) async throws(NetError) -> QueuedRequest {
        var asked = request.decoded(by: .bytes)
        try asked.content.placeParameters()
        if asked.headers["Idempotency-Key"] == nil {
            asked.headers["Idempotency-Key"] = Self.freshKey()
        }
        let record = try await withTaskExecutorPreference(DiskExecutor()) { [asked] () async throws(NetError) in
            try await keep(asked, keeping)
        }
        let news = state.withLock { $0.insert(record) }
        news.fulfil(.success(()))
        return record
    }

    /// Writes the upload. If that fails, no file remains.
    @concurrent
    private func keep(_ request: Request<Bytes>, _ keeping: Keeping) async throws(NetError) -> QueuedRequest {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        var asked = request
        do throws(NetError) {
            try await place(&asked, id, keeping)
            if let refusal = rules.refusal(of: Call(asked)) {
                throw Self.refused(refusal)
            }
            let record = rules.record(asked, id: id, keptAt: time.epochSeconds(), lifetime: lifetime)
            try folder.write(record)
            return record
        } catch {
            folder.remove(id)
            throw error
        }
    }

    private static func refused(_ why: String) -> NetError {
        NetError(.usage, "the upload cannot be kept: \(why)")
    }

    /// Makes the body storable: in the record, by its path, or in its own file.
    private func place(
        _ request: inout Request<Bytes>, _ id: Int, _ keeping: Keeping
    ) async throws(NetError) {
        guard let body = request.body else { return }
        if case .file = body.content, keeping == .path {
            return
        }
        if let bytes = body.wholeBytes, bytes.count <= rules.maxBodyBytes {
            return
        }
        // A file is not searched for secrets.
        if let secret = rules.secret(in: body, of: request) {
            throw Self.refused(secret)
        }
        try await folder.copy(body, for: id)
        request.body?.content = .file(folder.bodyFile(id))
    }

    /// Removes an upload. Returns false if it is not in the queue. A transfer in flight continues.
    @discardableResult
    public func remove(_ id: QueuedRequest.ID) -> Bool {
        let (wasKept, news) = state.withLock { state in
            let count = state.kept.count
            state.kept.removeAll { $0.id == id }
            state.rests[id] = nil
            return (state.kept.count < count, state.renewed())
        }
        if wasKept {
            folder.remove(id)
        }
        news.fulfil(.success(()))
        return wasKept
    }

    /// Removes an upload that has ended from the directory, then reports its outcome.
    func end(_ outcome: Outcome, of id: QueuedRequest.ID) {
        remove(id)
        onOutcome(outcome)
    }

    /// Delays the next attempt by the backoff after that many failures, or by the server's Retry-After if that is
    /// longer.
    ///
    /// The server's time is written to disk, so that other processes respect it too.
    func rest(_ upload: QueuedRequest, asked: Duration?) {
        let now = time.now()
        let asked = asked.map { min($0, time.left(until: upload.expiresAt)) }
        let moment = asked.map { time.epochSeconds() + $0 / .seconds(1) }
        let changed = state.withLock { state in
            state.rest(upload.id, at: now)
            if let asked {
                state.postpone(upload.id, at: now, for: asked)
            }
            return state.note(moment, of: upload.id)
        }
        guard let changed else { return }
        // If this fails, the next process tries too early, which is harmless.
        try? folder.write(changed)
        if !state.withLock({ $0.keeps(upload.id) }) {
            folder.remove(upload.id)
        }
    }

    /// 128 random bits: collisions are as unlikely as those of UUIDs.
    private static func freshKey() -> String {
        (0..<2).map { _ in
            let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

/// The uploads of a queue and their state.
struct UploadState: Sendable {
    /// The time at which a failed upload may be tried again.
    struct Rest: Sendable {
        var failures: Int
        var until: Duration
    }

    /// The next action.
    enum Step: Sendable {
        case send(QueuedRequest)
        /// Wait until something changes, or until this time has passed.
        case wait(Promise<Void>, Duration?)
        case end
    }

    var kept: [QueuedRequest]
    var last: Int
    var underWay: Set<Int> = []
    var rests: [Int: Rest] = [:]
    var isDraining = false
    /// Whether sending has to stop.
    var isStopping = false
    private var news = Promise<Void>()

    init(kept: [QueuedRequest], last: Int) {
        self.kept = kept
        self.last = last
    }

    /// Inserts an upload in order. Returns the promise to fulfil for the waiting senders.
    mutating func insert(_ record: QueuedRequest) -> Promise<Void> {
        kept.insert(record, at: kept.firstIndex { $0.id > record.id } ?? kept.count)
        return renewed()
    }

    /// Returns the promise of the current waiters and creates the one of the next.
    mutating func renewed() -> Promise<Void> {
        defer { news = Promise() }
        return news
    }

    mutating func next(at now: Duration, untilEmpty: Bool) -> Step {
        if isStopping {
            return .end
        }
        let free = kept.filter { !underWay.contains($0.id) }
        if let first = free.first(where: { (rests[$0.id]?.until ?? .zero) <= now }) {
            underWay.insert(first.id)
            return .send(first)
        }
        if kept.isEmpty, untilEmpty {
            return .end
        }
        return .wait(news, free.compactMap { rests[$0.id]?.until }.min().map { $0 - now })
    }

    /// Records a failure: the upload is delayed by the backoff.
    mutating func rest(_ id: Int, at now: Duration) {
        let failures = (rests[id]?.failures ?? 0) + 1
        rests[id] = Rest(failures: failures, until: now + QueueRules.rest(after: failures))
    }

    /// Delays the next attempt by at least this time.
    mutating func postpone(_ id: Int, at now: Duration, for wait: Duration) {
        let failures = rests[id]?.failures ?? 0
        rests[id] = Rest(failures: failures, until: max(rests[id]?.until ?? .zero, now + wait))
    }

    /// Records the time that a server requested. Returns the record to write, or `nil` if it is unchanged.
    mutating func note(_ moment: Double?, of id: Int) -> QueuedRequest? {
        guard let place = kept.firstIndex(where: { $0.id == id }), kept[place].notBefore != moment else { return nil }
        kept[place].notBefore = moment
        return kept[place]
    }

    func keeps(_ id: Int) -> Bool { kept.contains { $0.id == id } }
}
