/// Uploads that outlive their process: each is written down in a folder before it is sent, and sent until it is answered,
/// by whichever process has the folder then.
///
///     let queue = try UploadQueue(folder: path) { outcome in … }
///     Task { await agent.upload(queue) }                       // as long as the app runs
///     try await queue.add(Request<Void>("photos", method: .post, body: .file("/data/p.jpg")))
///
/// A process may end at any moment, by `kill -9` or a crash: what was added is there at the next start, whole or not at
/// all, and is sent again unless it was answered. So that a server can tell a second try from a second upload, each has an
/// `Idempotency-Key`, its own or one that is made for it, which is the same in every try of every process.
///
/// One queue at a time has a folder, in all processes. Uploads begin in order, several at once, so one may overtake
/// another. **Secrets are not written down**, as with an ``OfflineQueue``: `prepare` adds them. Thread-safe.
public final class UploadQueue: Sendable {
    /// What became of an upload; it is kept no more.
    public typealias Outcome = OfflineQueue.Outcome

    /// What is kept of a body that is a file.
    public enum Keeping: Sendable, Hashable {
        /// Its path: the file has to stay as it is until the upload is over.
        case path
        /// A copy in the queue's folder: the file may change or go at once.
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

    /// A queue of what the folder holds, which is made when it is not there.
    ///
    /// Throws ``NetError/Code/file`` when the folder cannot be used, when another queue has it, in this process or another,
    /// or when another user could have written the folder or a file in it.
    /// - Parameters:
    ///   - folder: where uploads are kept; made if it is not there.
    ///   - maxConcurrent: uploads at once (2), at least 1.
    ///   - lifetime: how long an upload is kept (a week).
    ///   - maxBodyBytes: the largest body in memory that is written into the description (64 KiB); a larger one, and one
    ///     that is put together while it is sent, gets a file of its own in the folder.
    ///   - redaction: tells what is a secret.
    ///   - time: tells the time.
    ///   - prepare: adds what was left out, before each try; it may set ``Request/progress``, too.
    ///   - onOutcome: hears what became of each, also of those that an earlier process added.
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
            // A clock that is behind the upload itself is not set yet, and would have it wait for years.
            if let moment = upload.notBefore, upload.keptAt <= time.epochSeconds() {
                state.postpone(upload.id, at: time.now(), for: time.left(until: moment))
            }
        }
        self.state = Lock(state)
    }

    /// As the other initializer, for callers that need not hear what became of each.
    ///
    /// That one is preferred where both fit, so that a closure behind the parentheses is its `onOutcome`, and not
    /// `prepare`.
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

    /// What is kept, in order.
    public var uploads: [QueuedRequest] { state.withLock { $0.kept } }

    /// Writes an upload down; when this returns it is safe, also from a power failure.
    ///
    /// Its URL may be relative to the base of the agent that will send it. Fields that hold secrets, credentials and notes
    /// are left out. Files, and bodies that are read while they are sent, are not looked into.
    /// Throws ``NetError/Code/usage`` for a secret in its URL, a form or JSON and for trust, proxy or address of
    /// its own, ``NetError/Code/file`` when it cannot be written, and what reading its body throws; then nothing is kept.
    /// - Parameters:
    ///   - request: what is sent; any method.
    ///   - keeping: what is kept of a body that is a file.
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

    /// Writes it down, and leaves nothing behind when that cannot be done.
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

    /// Sees to it that the body can be written down: in the description, by its path, or in a file of its own.
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
        // A file is not looked into any more.
        if let secret = rules.secret(in: body, of: request) {
            throw Self.refused(secret)
        }
        try await folder.copy(body, for: id)
        request.body?.content = .file(folder.bodyFile(id))
    }

    /// Gives one up; false when it is not, or no longer, kept. One that is under way goes on.
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

    /// One is over: it is gone from the folder before anybody is told.
    func end(_ outcome: Outcome, of id: QueuedRequest.ID) {
        remove(id)
        onOutcome(outcome)
    }

    /// It rests: as long as it would after so many failures, or as long as the server has asked for, if that is longer.
    ///
    /// What a server asks for is written down, so that another process heeds it, too.
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
        // Without it the next process tries too early, which does no harm.
        try? folder.write(changed)
        if !state.withLock({ $0.keeps(upload.id) }) {
            folder.remove(upload.id)
        }
    }

    /// 128 bits, as unlikely to be met twice as a UUID.
    private static func freshKey() -> String {
        (0..<2).map { _ in
            let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

/// What an upload queue keeps, and how far it is with it.
struct UploadState: Sendable {
    /// When one that failed may be tried again.
    struct Rest: Sendable {
        var failures: Int
        var until: Duration
    }

    /// What is to be done next.
    enum Step: Sendable {
        case send(QueuedRequest)
        /// Nothing, until something changes, or so much time has passed.
        case wait(Promise<Void>, Duration?)
        case end
    }

    var kept: [QueuedRequest]
    var last: Int
    var underWay: Set<Int> = []
    var rests: [Int: Rest] = [:]
    var isDraining = false
    /// Whether those who send are to send no more.
    var isStopping = false
    private var news = Promise<Void>()

    init(kept: [QueuedRequest], last: Int) {
        self.kept = kept
        self.last = last
    }

    /// In its place in the order; returns who waits for news.
    mutating func insert(_ record: QueuedRequest) -> Promise<Void> {
        kept.insert(record, at: kept.firstIndex { $0.id > record.id } ?? kept.count)
        return renewed()
    }

    /// Those who wait for news; the next ones wait for the next.
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

    /// It failed, and may be tried again later.
    mutating func rest(_ id: Int, at now: Duration) {
        let failures = (rests[id]?.failures ?? 0) + 1
        rests[id] = Rest(failures: failures, until: now + QueueRules.rest(after: failures))
    }

    /// It is not tried before so much time has passed.
    mutating func postpone(_ id: Int, at now: Duration, for wait: Duration) {
        let failures = rests[id]?.failures ?? 0
        rests[id] = Rest(failures: failures, until: max(rests[id]?.until ?? .zero, now + wait))
    }

    /// Notes a server's wish; returns what is to be written down, nil where nothing changes.
    mutating func note(_ moment: Double?, of id: Int) -> QueuedRequest? {
        guard let place = kept.firstIndex(where: { $0.id == id }), kept[place].notBefore != moment else { return nil }
        kept[place].notBefore = moment
        return kept[place]
    }

    func keeps(_ id: Int) -> Bool { kept.contains { $0.id == id } }
}
