/// The time limit of a whole call (``Limits/total``), from its start to its end.
///
/// Waits of the library end when the time is over. Code of the app may ignore the cancellation of its task. Therefore
/// calls that run such code are raced against the time limit: see ``race(_:_:atLeast:isolation:_:)``.
struct TimeBudget: Sendable {
    private let total: Duration?
    private let started = ContinuousClock.now
    private let timer: DeadlineTimer?
    /// The current activities of a raced call; `nil` if the call is not raced.
    private var activities: CallActivities?

    /// - Parameters:
    ///   - total: the time limit, which begins now. If `nil`, there is none.
    ///   - timer: the agent's timer. If `nil`, a timer is created when it is needed.
    init(_ total: Duration?, timer: DeadlineTimer? = nil) {
        self.total = total
        self.timer = timer
    }

    /// The remaining time, which is zero or negative after the end. `nil` if there is no limit.
    var remaining: Duration? { total.map { $0 - (ContinuousClock.now - started) } }

    /// Returns the remaining time, or `nil` if there is no limit. Throws ``NetError/Code/timeout`` if the time is
    /// over.
    ///
    /// - Parameter activity: the activity that the error names.
    func remaining(for activity: String) throws(NetError) -> Duration? {
        guard let timeLeft = remaining else { return nil }
        guard timeLeft > .zero else { throw timedOut(activity) }
        return timeLeft
    }

    /// Returns the request with the remaining time as its total limit.
    ///
    /// - Parameter isExact: if false, the request is returned unchanged while less than a thousandth of the time has
    ///   passed.
    func bounding(_ request: Request<Bytes>, isExact: Bool = false) throws(NetError) -> Request<Bytes> {
        guard let total, let timeLeft = remaining else { return request }
        guard timeLeft > .zero else {
            throw timedOut("the time before the transfer from \(request.url.origin ?? "the server")")
        }
        let limit = request.content.limitsStorage.map { $0.value.total } ?? total
        guard timeLeft < limit ?? total + .seconds(1), isExact || timeLeft < total - total / 1000 else {
            return request
        }
        var bounded = request
        bounded.limits.total = timeLeft
        return bounded
    }

    /// Runs a closure of the app and returns its result. If the time ends first, the closure's task is cancelled, and
    /// the call ends.
    ///
    /// - Parameter activity: the name of the closure for errors.
    func run<Output: Sendable>(
        _ activity: String, isolation: isolated (any Actor)? = #isolation,
        _ operation: @escaping @Sendable () async throws -> Output
    ) async throws -> Output {
        _ = try remaining(for: activity)
        let outcome: Result<Output, any Error>
        if let activities {
            let end = activities.begin(activity)
            defer { end() }
            outcome = await Self.result(of: operation)
        } else {
            outcome = try await race(activity, isolation: isolation) { _ async throws(NetError) in
                await Self.result(of: operation)
            }
        }
        try Task.checkCancellation()  // The closure may have returned early because its task was cancelled.
        return try outcome.get()
    }

    private static func result<Output>(of operation: @Sendable () async throws -> Output) async -> Result<
        Output, any Error
    > {
        do {
            return .success(try await operation())
        } catch {
            return .failure(error)
        }
    }

    /// Waits for a value of another task until the time ends.
    func value<Value: Sendable>(of promise: Promise<Value>, _ activity: String) async throws(NetError) -> Value {
        guard let timeLeft = try remaining(for: activity) else { return try await promise.value() }
        if let activities {
            // The race ends the wait by cancelling its task, and the error names this activity.
            let end = activities.begin(activity)
            defer { end() }
            return try await promise.value()
        }
        return try await promise.value(within: timeLeft, by: timer ?? DeadlineTimer(), else: timedOut(activity))
    }

    /// Whether the call is raced against the time limit, in a separate task.
    var isRaced: Bool { activities != nil }

    /// Records the start of an activity. The returned closure records its end.
    func begin(_ activity: String) -> (@Sendable () -> Void)? { activities?.begin(activity) }

    /// Runs a transfer and records that one is in flight. A transfer applies the time limit itself.
    func transfer<Output>(
        isolation: isolated (any Actor)? = #isolation, _ work: () async throws(NetError) -> Output
    ) async throws(NetError) -> Output {
        activities?.transferBegins()
        defer { activities?.transferEnds() }
        return try await work()
    }

    func timedOut(_ activity: String) -> NetError {
        NetError(.timeout, "\(activity) exceeded the total time limit of \(total ?? .zero) (limits.total)")
    }
}

extension TimeBudget {
    // The time in which a transfer should have ended after its own time limit or its cancellation.
    static let grace = Duration.milliseconds(250)
    // A download takes longer to end, because it writes a checkpoint first.
    private static let savingGrace = Duration.seconds(5)

    /// Runs work that includes code of the app, in a separate task on the caller's actor. Returns when the work ends or
    /// when the time is over, whichever comes first.
    ///
    /// The task has the caller's task-local values and priority. If the time is over and the work ignores the
    /// cancellation of its task, the work continues and its outcome is dropped. If the caller is cancelled, this
    /// function returns when the transfer has ended. If other work ignores the cancellation, it returns after
    /// ``grace``.
    ///
    /// - Parameters:
    ///   - activity: the name of the work for errors.
    ///   - minimum: the time for the work if less time remains.
    func race<Value: Sendable>(
        _ activity: String, _ kind: Call.Kind = .send, atLeast minimum: Duration? = nil,
        isolation: isolated (any Actor)? = #isolation,
        _ work: @escaping @Sendable (TimeBudget) async throws(NetError) -> Value
    ) async throws(NetError) -> Value {
        let timeLeft = if let minimum { remaining.map { max($0, minimum) } } else { try remaining(for: activity) }
        let race = Race<Value>(timer: timer ?? DeadlineTimer(), activity: activity)
        let budget = raced(race.activities)
        let task = Task {
            _ = isolation  // Capturing the actor makes the task run on it.
            _ = await race.mayStart.outcome()
            do throws(NetError) {
                race.end(.success(try await work(budget)))
            } catch {
                race.end(.failure(error))
            }
        }
        if let timeLeft {
            race.limit(task, self, timeLeft, kind == .save ? Self.savingGrace : Self.grace)
        }
        let outcome = await cancelling({
            task.cancel()
            race.abandon(after: Self.grace, tries: Int(Self.savingGrace / Self.grace))
        }) {
            // The work starts only after the cancellation handler is installed, so that no cancellation is missed.
            race.mayStart.fulfil(.success(()))
            return await race.promise.outcome()
        }
        race.stop()
        return try outcome.get()
    }
}

extension TimeBudget {
    private func raced(_ activities: CallActivities) -> TimeBudget {
        var budget = self
        budget.activities = activities
        return budget
    }
}

/// Work that is raced against a time limit.
private final class Race<Value: Sendable>: Sendable {
    let mayStart = Promise<Void>()
    let promise = Promise<Value>()
    let activities = CallActivities()
    private let timer: DeadlineTimer
    private let activity: String
    private let timerNumber = Lock<UInt64?>(nil)

    init(timer: DeadlineTimer, activity: String) {
        self.timer = timer
        self.activity = activity
    }

    /// Ends the race with the outcome of the work. If the time is over already, the outcome is a timeout.
    func end(_ outcome: Result<Value, NetError>) {
        if case .failure(let error) = outcome, error.code == .timeout {
            return promise.fulfil(outcome)
        }
        promise.fulfil(activities.end.map { .failure($0) } ?? outcome)
    }

    /// Cancels the work's task when the time is over.
    func limit(_ task: Task<Void, Never>, _ budget: TimeBudget, _ timeLeft: Duration, _ grace: Duration) {
        set(after: timeLeft) { [self] in
            // A transfer has the same limit, and its own error contains more details.
            if activities.isInTransfer {
                set(after: grace) { [self] in timeOut(task, budget) }
            } else {
                timeOut(task, budget)
            }
        }
    }

    private func timeOut(_ task: Task<Void, Never>, _ budget: TimeBudget) {
        let error = budget.timedOut(activities.current ?? activity)
        activities.end(with: error)
        task.cancel()
        // Code that respects its cancellation gets this time to end.
        set(after: .milliseconds(100)) { [self] in promise.fulfil(.failure(error)) }
    }

    /// Ends the race of a cancelled call whose work continues after `grace`. While a transfer is in flight, waits
    /// longer, because the transfer ends by itself.
    ///
    /// - Parameter tries: how many times to wait for a transfer.
    func abandon(after grace: Duration, tries: Int) {
        _ = timer.add(after: grace) { [self] in
            if tries > 0, activities.isInTransfer, !promise.isFulfilled {
                abandon(after: grace, tries: tries - 1)
            } else {
                promise.fulfil(.failure(NetError(.cancelled, "the task was cancelled")))
            }
        }
    }

    private func set(after time: Duration, _ action: @escaping @Sendable () -> Void) {
        guard !promise.isFulfilled else { return }
        let number = timer.add(after: time, action)
        timerNumber.withLock { $0 = number }
    }

    func stop() {
        if let number = timerNumber.withLock({ $0 }) {
            timer.remove(number)
        }
    }
}

/// The current activities of a raced call: transfers, waits, and closures of the app.
private final class CallActivities: Sendable {
    private struct State: Sendable {
        var transfers = 0
        var names: [(UInt64, String)] = []
        var last: UInt64 = 0
        var end: NetError?
    }

    private let state = Lock(State())

    /// The error of the call, after its time is over; otherwise `nil`.
    var end: NetError? { state.withLock { $0.end } }

    func end(with error: NetError) {
        state.withLock { $0.end = error }
    }

    /// Whether a transfer is in flight that does not wait for code of the app.
    var isInTransfer: Bool { state.withLock { $0.transfers > 0 && $0.names.isEmpty } }

    /// The name of the activity that began last.
    var current: String? { state.withLock { $0.names.last?.1 } }

    /// Records the start of an activity. The returned closure records its end.
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

/// An interceptor that never delays a call beyond the call's time limit. All interceptors that conform belong to the
/// library. Other interceptors may ignore cancellation, so calls through them are raced (``TimeBudget``).
protocol PromptInterceptor: Interceptor {
    /// Whether this value never delays a call beyond its time limit. False if it runs code of the app that may do so.
    var isPrompt: Bool { get }
}

extension PromptInterceptor {
    var isPrompt: Bool { true }
}

extension [any Interceptor] {
    /// Whether none of the interceptors can delay a call beyond its time limit.
    var arePrompt: Bool { allSatisfy { ($0 as? any PromptInterceptor)?.isPrompt ?? false } }
}

extension Request {
    /// A time limit that began before the call. If `nil`, the time begins with the call.
    var budget: TimeBudget? {
        get { callSettings?.value.budget }
        set { settings.budget = newValue }
    }

    /// Removes the budget from the request and returns it, so that only one call uses it.
    mutating func takeBudget() -> TimeBudget? {
        guard let budget else { return nil }
        settings.budget = nil
        return budget
    }
}
