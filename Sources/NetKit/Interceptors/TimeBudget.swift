/// The time that a whole call may take (``Limits/total``), from its start to its end.
///
/// The library's own waits end with the budget. App code may ignore the cancellation of its task, so it runs in a race
/// with the budget: see ``race(_:_:atLeast:isolation:_:)``.
struct TimeBudget: Sendable {
    private let total: Duration?
    private let begun = ContinuousClock.now
    private let timer: DeadlineTimer?
    /// What a raced call is doing; nil outside of a race.
    private var steps: CallSteps?

    /// - Parameters:
    ///   - total: `nil` is no limit.
    ///   - timer: the agent's timer; if `nil`, one is created when it is needed.
    init(_ total: Duration?, timer: DeadlineTimer? = nil) {
        self.total = total
        self.timer = timer
    }

    /// The remaining time, zero or negative after its end; `nil` is no limit.
    var remaining: Duration? { total.map { $0 - (ContinuousClock.now - begun) } }

    /// Returns the remaining time for the next step.
    func left(behind what: String) throws(NetError) -> Duration? {
        guard let left = remaining else { return nil }
        guard left > .zero else { throw timedOut(what) }
        return left
    }

    /// Returns the request with the remaining time as its total limit.
    ///
    /// - Parameter isExact: `false` keeps the limit while less than a thousandth of it has passed.
    func bounding(_ request: Request<Bytes>, isExact: Bool = false) throws(NetError) -> Request<Bytes> {
        guard let total, let left = remaining else { return request }
        guard left > .zero else {
            throw timedOut("what came before the transfer from \(request.url.origin ?? "the server")")
        }
        let most = request.limits.map { $0.total } ?? total
        guard left < most ?? total + .seconds(1), isExact || left < total - total / 1000 else { return request }
        var bounded = request
        var limits = request.limits ?? Limits()
        limits.total = left
        bounded.limits = limits
        return bounded
    }

    /// Returns the result of a closure of the app. If the time ends first, its task is cancelled and the call ends.
    func answer<Answer: Sendable>(
        of who: String, isolation: isolated (any Actor)? = #isolation,
        _ ask: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        _ = try left(behind: who)
        let answer: Result<Answer, any Error>
        if let steps {
            let step = steps.begin(who)
            defer { step() }
            answer = await Self.result(of: ask)
        } else {
            answer = try await race(who, isolation: isolation) { _ async throws(NetError) in await Self.result(of: ask)
            }
        }
        try Task.checkCancellation()  // Its cancellation may be the reason for the answer.
        return try answer.get()
    }

    private static func result<Answer>(of ask: @Sendable () async throws -> Answer) async -> Result<Answer, any Error> {
        do {
            return .success(try await ask())
        } catch {
            return .failure(error)
        }
    }

    /// Waits for a value that another task brings, as long as the time lasts.
    func value<Value: Sendable>(of promise: Promise<Value>, _ what: String) async throws(NetError) -> Value {
        guard let left = try left(behind: what) else { return try await promise.value() }
        if let steps {
            // The race ends the wait, and says what it was.
            let step = steps.begin(what)
            defer { step() }
            return try await promise.value()
        }
        return try await promise.value(within: left, by: timer ?? DeadlineTimer(), else: timedOut(what))
    }

    /// Whether the call runs on a task of its own.
    var isRaced: Bool { steps != nil }

    /// Names the wait that begins; the returned closure ends it.
    func begin(_ what: String) -> (@Sendable () -> Void)? { steps?.begin(what) }

    /// Marks a transfer, which has limits of its own.
    func transfer<Reply>(
        isolation: isolated (any Actor)? = #isolation, _ work: () async throws(NetError) -> Reply
    ) async throws(NetError) -> Reply {
        steps?.transferBegins()
        defer { steps?.transferEnds() }
        return try await work()
    }

    func timedOut(_ what: String) -> NetError {
        NetError(.totalTimedOut, "\(what) took longer than the call's \(total ?? .zero) (limits.total)")
    }
}

extension TimeBudget {
    // Longer than a transfer takes to end by itself once its own limit, or a cancellation, is due.
    static let grace = Duration.milliseconds(250)
    // A download records first what it leaves behind.
    private static let savingGrace = Duration.seconds(5)

    /// Does work that app code is a part of on a task of its own, on the caller's actor. Returns when the work or the time
    /// ends, whichever comes first.
    ///
    /// The task has the caller's task-local values and priority. Work that ignores its cancellation is abandoned: it
    /// continues, and its outcome is dropped. A cancelled call ends with its transfer, or a moment later where something
    /// else ignores the cancellation.
    ///
    /// - Parameter least: the time that the work has when less is left.
    func race<Value: Sendable>(
        _ what: String, _ kind: Call.Kind = .send, atLeast least: Duration? = nil,
        isolation: isolated (any Actor)? = #isolation,
        _ work: @escaping @Sendable (TimeBudget) async throws(NetError) -> Value
    ) async throws(NetError) -> Value {
        let left = if let least { remaining.map { max($0, least) } } else { try left(behind: what) }
        let race = Race<Value>(timer: timer ?? DeadlineTimer(), what: what)
        let budget = raced(race.steps)
        let task = Task {
            _ = isolation  // The task stays with the actor that it names.
            _ = await race.begun.outcome()
            do throws(NetError) {
                race.end(.success(try await work(budget)))
            } catch {
                race.end(.failure(error))
            }
        }
        if let left {
            race.limit(task, self, left, kind == .save ? Self.savingGrace : Self.grace)
        }
        let outcome = await cancelling({
            task.cancel()
            race.abandon(after: Self.grace, tries: Int(Self.savingGrace / Self.grace))
        }) {
            // The work begins behind the handler, so that it sees every cancellation of its caller without delay.
            race.begun.fulfil(.success(()))
            return await race.promise.outcome()
        }
        race.stop()
        return try outcome.get()
    }
}

extension TimeBudget {
    private func raced(_ steps: CallSteps) -> TimeBudget {
        var budget = self
        budget.steps = steps
        return budget
    }
}

/// The outcome of work that is limited in time.
private final class Race<Value: Sendable>: Sendable {
    let begun = Promise<Void>()
    let promise = Promise<Value>()
    let steps = CallSteps()
    private let timer: DeadlineTimer
    private let what: String
    private let alarm = Lock<UInt64?>(nil)

    init(timer: DeadlineTimer, what: String) {
        self.timer = timer
        self.what = what
    }

    /// The work has ended. What comes after the time is over is a timeout.
    func end(_ outcome: Result<Value, NetError>) {
        if case .failure(let error) = outcome, error.code == .totalTimedOut {
            return promise.fulfil(outcome)
        }
        promise.fulfil(steps.end.map { .failure($0) } ?? outcome)
    }

    /// Cancels the task when the time is over.
    func limit(_ task: Task<Void, Never>, _ budget: TimeBudget, _ left: Duration, _ grace: Duration) {
        set(after: left) { [self] in
            // The transfer has the same limit, and its error says more.
            if steps.isInTransfer {
                set(after: grace) { [self] in timeOut(task, budget) }
            } else {
                timeOut(task, budget)
            }
        }
    }

    private func timeOut(_ task: Task<Void, Never>, _ budget: TimeBudget) {
        let error = budget.timedOut(steps.current ?? what)
        steps.end(with: error)
        task.cancel()
        // A moment for code that honours its cancellation.
        set(after: .milliseconds(100)) { [self] in promise.fulfil(.failure(error)) }
    }

    /// Ends a cancelled call whose work continues. A transfer ends by itself.
    func abandon(after grace: Duration, tries: Int) {
        _ = timer.add(after: grace) { [self] in
            if tries > 0, steps.isInTransfer, !promise.isFulfilled {
                abandon(after: grace, tries: tries - 1)
            } else {
                promise.fulfil(.failure(NetError(.cancelled, "the task was cancelled")))
            }
        }
    }

    private func set(after time: Duration, _ ring: @escaping @Sendable () -> Void) {
        guard !promise.isFulfilled else { return }
        let number = timer.add(after: time, ring)
        alarm.withLock { $0 = number }
    }

    func stop() {
        if let number = alarm.withLock({ $0 }) {
            timer.remove(number)
        }
    }
}

/// What a raced call is doing at the moment.
private final class CallSteps: Sendable {
    private struct State: Sendable {
        var transfers = 0
        var names: [(UInt64, String)] = []
        var last: UInt64 = 0
        var end: NetError?
    }

    private let state = Lock(State())

    /// What the call ends with, once its time is over.
    var end: NetError? { state.withLock { $0.end } }

    func end(with error: NetError) {
        state.withLock { $0.end = error }
    }

    /// Whether a transfer, which has limits of its own, is under way, and no app code that it waits for.
    var isInTransfer: Bool { state.withLock { $0.transfers > 0 && $0.names.isEmpty } }

    /// The wait or the app code that the call waits for.
    var current: String? { state.withLock { $0.names.last?.1 } }

    /// Names a wait that begins; the returned closure ends it.
    func begin(_ name: String) -> @Sendable () -> Void {
        let number = state.withLock { state in
            state.last += 1
            state.names.append((state.last, name))
            return state.last
        }
        return { [self] in
            state.withLock { state in state.names.removeAll { $0.0 == number } }
        }
    }

    func transferBegins() {
        state.withLock { $0.transfers += 1 }
    }

    func transferEnds() {
        state.withLock { $0.transfers -= 1 }
    }
}

/// An interceptor of the library that holds no call beyond its ``TimeBudget``.
protocol PromptInterceptor: Interceptor {
    /// False where app code of its own may hold the call.
    var isPrompt: Bool { get }
}

extension PromptInterceptor {
    var isPrompt: Bool { true }
}

extension [any Interceptor] {
    /// Whether none of them can hold a call beyond its time.
    var arePrompt: Bool { allSatisfy { ($0 as? any PromptInterceptor)?.isPrompt ?? false } }
}

private enum BudgetNote: RequestNote {
    static let standard: TimeBudget? = nil
}

extension Request {
    /// The time that has begun to run before the call is made; nil begins with the call.
    var budget: TimeBudget? {
        get { hasNotes ? self[BudgetNote.self] : nil }
        set { self[BudgetNote.self] = newValue }
    }

    /// Takes the budget out, so that it belongs to one call alone.
    mutating func takeBudget() -> TimeBudget? {
        guard let budget else { return nil }
        drop(BudgetNote.self)
        return budget
    }
}
