#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Agent {
    /// Whether calls of this request need neither a chain nor observers.
    func isBare(_ request: Request<some Sendable>) -> Bool { hasBareCalls && !request.hasNotes && !hub.isHeard }

    /// Returns the chain for a request.
    func chain(for request: Request<Bytes>) -> CallChain {
        let needsPath = request.asksForPath || !configuration.allowsCellular
        guard request.hasNotes || needsPath else { return chain }
        let service = request.service
        let own = request.hasNotes ? request.interceptors : []
        let outsiders = request.outsiders
        guard service != nil || !own.isEmpty || needsPath || !outsiders.isEmpty else { return chain }
        let agents = chain.interceptors.adding(isElsewhere: outsiders.contains(.agent))
        let isElsewhere = outsiders.contains(.service)
        let services = (service?.configuration.interceptors ?? []).adding(isElsewhere: isElsewhere)
        // A signature contains its time, so nothing may wait behind it.
        let stage = (service?.stage ?? []) + (needsPath ? [connectivity] : [])
        let signing = isElsewhere ? [] : service?.configuration.signing ?? []
        return CallChain(agents + services + own + stage + signing, end: exchange)
    }

    /// Returns the observers of a request.
    func observers(of request: Request<some Sendable>) -> [any Observer] {
        let all = hub.isHeard ? observers + [hub] : observers
        guard request.hasNotes else { return all }
        let metrics = request.transferHooks.metrics.map { MetricsHook(tell: $0) }
        return all.filter { metrics == nil || !($0 is MetricsHook) }
            + (request.service?.configuration.interceptors.watching ?? []) + request.interceptors.watching
            + [metrics].compactMap { $0 }
    }

    typealias Work<Value> = @Sendable (Call) async throws(NetError) -> (Value, Response<Bytes>)

    /// Runs one call from start to end, and notifies its observers.
    private func watched<Value: Sendable>(
        _ request: Request<some Sendable>, _ kind: Call.Kind, savingTo path: String? = nil,
        _ work: @escaping Work<Value>
    ) async throws(NetError) -> Value {
        let (value, received, watch) = try await begun(request, kind, savingTo: path, work)
        if let watch {
            await watch.stopping(.answered(received))
            watch.stopped()
        }
        return value
    }

    /// Runs one call up to its response; a failure ends it.
    private func begun<Value: Sendable>(
        _ request: Request<some Sendable>, _ kind: Call.Kind, savingTo path: String? = nil,
        _ work: @escaping Work<Value>
    ) async throws(NetError) -> (Value, Response<Bytes>, Watch?) {
        let group = request.completionGroup
        group?.enter()
        defer { group?.leave() }
        let budget = request.budget ?? budget(of: request, kind)
        let watch = Watch.begin(request, observers(of: request), within: budget)
        var call = Call(request.decoded(by: .bytes), kind: kind, watch: watch, budget: budget)
        do throws(NetError) {
            let (value, received) = try await carried(&call, of: request, savingTo: path, work)
            return (value, received, watch)
        } catch {
            throw await failure(of: call, asked: request, error)
        }
    }

    /// Runs the work of a call, at most until the call's time ends.
    ///
    /// - Parameter isEnd: true if the call ends with it, so that hooks may hold the end.
    @inline(__always)
    func carried<Value: Sendable>(
        _ call: inout Call, of request: Request<some Sendable>, savingTo path: String? = nil, isEnd: Bool = true,
        _ work: @escaping Work<Value>
    ) async throws(NetError) -> (Value, Response<Bytes>) {
        if isPrompt, !request.hasNotes || hasPromptCall(request) {
            return try await done(call, savingTo: path, isEnd, { call = $0 }, work)
        }
        return try await raced(&call, savingTo: path, isEnd, work)
    }

    /// Prepares the call, runs its work, and calls the hooks that may hold the end.
    @inline(__always)
    private func done<Value: Sendable>(
        _ begun: Call, savingTo path: String?, _ isEnd: Bool, _ isPrepared: (Call) -> Void, _ work: Work<Value>
    ) async throws(NetError) -> (Value, Response<Bytes>) {
        var call = begun
        if addsToRequests || call.request.hasNotes {
            call = try await prepared(call)
        } else {
            try preparePlain(&call)
        }
        if let path {
            call.request.savePath = try Self.checkedPath(path)
        }
        if call.request.body != nil {
            let hooks = call.request.hooks(over: configuration.transferHooks)
            call.request = call.request.renewing(by: hooks.newBody, call.watch)
        }
        isPrepared(call)
        let prepared = call
        let (value, received) = try await flights.aboard { () async throws(NetError) in
            try await work(prepared)
        }
        if isEnd, !endings.isEmpty || call.request.hasNotes {
            try await mayEnd(call, .answered(received))
        }
        return (value, received)
    }

    /// Runs the work in a race with the call's time, because app code may ignore cancellation.
    @inline(never)
    private func raced<Value: Sendable>(
        _ call: inout Call, savingTo path: String?, _ isEnd: Bool, _ work: @escaping Work<Value>
    ) async throws(NetError) -> (Value, Response<Bytes>) {
        let (latest, budget) = (Lock(call), call.budget)
        defer {
            call = latest.withLock { $0 }
            call.budget = budget
        }
        // Swift 6.3: a closure with a capture list would leave the caller's actor.
        let begun = call
        return try await budget.race("the call", call.kind) { budget async throws(NetError) in
            var call = begun
            call.budget = budget
            let taken: @Sendable (Call) -> Void = { prepared in latest.withLock { $0 = prepared } }
            return try await self.done(call, savingTo: path, isEnd, taken, work)
        }
    }

    /// Returns true if no app code of the request can delay its call, except closures that are raced individually.
    private func hasPromptCall(_ request: Request<some Sendable>) -> Bool {
        let service = request.service
        let own = request.interceptors + (service?.configuration.interceptors ?? []) + (service?.stage ?? [])
        return request.transferHooks.isPrompt && own.arePrompt && (service?.configuration.signing ?? []).arePrompt
    }

    // Rarely used functions below are never inlined: they would enlarge every call's stack frame.

    /// Ends a failed call: calls the endings, notifies the observers, and returns the final error.
    @inline(never)
    func failure(
        of call: Call, asked request: Request<some Sendable>, _ failure: NetError
    ) async -> NetError {
        var error = request.hasNotes ? request.service?.mapped(failure) ?? failure : failure
        call.request.progress?(.over)
        // The call was stopped by an ending or a hook: no further ending is called.
        if error.code != .stoppedByCaller {
            do throws(NetError) {
                try await mayFail(call, error)
            } catch let other {
                error = other
            }
        }
        await call.watch?.stopping(.failed(error))
        call.watch?.stopped()
        return error
    }

    /// Calls the interceptors that may replace the outcome before the caller receives it.
    @inline(never)
    func mayEnd(_ call: Call, _ outcome: Event.Outcome) async throws(NetError) {
        let chain = chain(for: call.request)
        for ending in chain === self.chain ? endings : chain.interceptors.ending {
            try await ending.mayEnd(call, outcome)
        }
    }

    /// The same for a call that has failed. Its time may be over: then they have a moment.
    private func mayFail(_ call: Call, _ error: NetError) async throws(NetError) {
        guard chain(for: call.request).interceptors.contains(where: { $0 is any CallEnding }) else { return }
        try await call.budget.race("the hook of a failure", atLeast: TimeBudget.grace) { _ async throws(NetError) in
            try await self.mayEnd(call, .failed(error))
        }
    }

    func sendThroughChain<Value>(_ request: Request<Value>) async throws(NetError) -> Response<Value> {
        if request.isListed {
            return try await sendListed(request)
        }
        if request.output != nil {
            return try await sendInGoes(request, nil)
        }
        return try await watched(request, .send) { call async throws(NetError) in
            try await self.kept(try await self.whole(call), by: request)
        }
    }

    func saveThroughChain(
        _ request: Request<some Sendable>, to path: String
    ) async throws(NetError) -> Response<SavedFile> {
        if request.isListed {
            return try await saveListed(request, to: path)
        }
        return try await watched(request, .save, savingTo: path) { call async throws(NetError) in
            let reply = try await self.reply(to: call)
            let received = reply.response
            if call.request.download != nil, case .file(let file) = reply.body {
                return (received.map { _ in file }, received)
            }
            guard (200..<300).contains(received.status) else {
                throw NetError(unacceptable: received)
            }
            try call.request.checkHead(received, types: nil)
            if case .file(let file) = reply.body {
                return (received.map { _ in file }, received)
            }
            let bytes = try await reply.collected(upTo: call.request.limits?.maxBodyBytes)
            try call.request.checkBody(bytes, of: received)
            try await withTaskExecutorPreference(DiskExecutor()) { () async throws(NetError) in
                try await Self.write(bytes, to: path)
            }
            return (received.map { _ in SavedFile(path: path, byteCount: bytes.count) }, received)
        }
    }

    func streamThroughChain(_ request: Request<some Sendable>) async throws(NetError) -> ResponseStream {
        if request.isListed {
            return try await streamListed(request)
        }
        let (stream, _, watch) = try await begun(request, .stream) { call async throws(NetError) in
            let stream = try await self.opened(call)
            return (stream, stream.headOnly)
        }
        return watch.map { stream.replaced(by: WatchedChunks(stream, watch: $0)) } ?? stream
    }

    /// Returns a response with any kind of body.
    func openedThroughChain(_ request: Request<some Sendable>) async throws(NetError) -> Answer {
        let (answer, received, watch) = try await begun(request, .send) { call async throws(NetError) in
            let reply = try await self.reply(to: call)
            return (reply, reply.response)
        }
        if let watch, case .stream(let stream) = answer.body {
            return Answer(stream.replaced(by: WatchedChunks(stream, watch: watch)))
        }
        await watch?.stopping(.answered(received))
        watch?.stopped()
        return answer
    }

    // MARK: Replies of each kind

    private func reply(to call: Call) async throws(NetError) -> Answer {
        defer { call.request.progress?(.over) }
        try Self.checkCancellation()
        return try await Next(chain(for: call.request))(call)
    }

    func whole(_ call: Call) async throws(NetError) -> Response<Bytes> {
        let reply = try await reply(to: call)
        switch reply.body {
        case .bytes: return reply.response
        // A hook may have written the body there.
        case .file where call.request.hooks(over: configuration.transferHooks).head != nil: return reply.response
        case .file, .stream: break
        }
        var response = reply.response
        response.bytes = try await reply.collected(upTo: call.request.limits?.maxBodyBytes)
        response.value = response.bytes
        return response
    }

    private func opened(_ call: Call) async throws(NetError) -> ResponseStream {
        let reply: Answer
        do throws(NetError) {
            try Self.checkCancellation()
            reply = try await Next(chain(for: call.request))(call)
        } catch {
            call.request.progress?(.over)
            throw error
        }
        if case .stream(let stream) = reply.body {
            if control == nil {
                call.request.progress?(.over)
            }
            return stream
        }
        call.request.progress?(.over)
        var response = reply.response
        // The same as for a whole response.
        if case .file = reply.body, call.request.hooks(over: configuration.transferHooks).head != nil {
            return ResponseStream(response)
        }
        response.bytes = try await reply.collected(upTo: call.request.limits?.maxBodyBytes)
        return ResponseStream(response)
    }

    @concurrent
    private static func write(_ bytes: Bytes, to path: String) async throws(NetError) {
        do {
            try bytes.data.write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw NetError(.file, "the body cannot be saved: \(error)", underlying: error)
        }
    }
}

extension Agent.Configuration {
    /// Whether no app code can hold a call, except for closures that are raced one by one.
    var isPrompt: Bool { interceptors.arePrompt && transferHooks.isPrompt }
}

extension [any Interceptor] {
    /// Returns the interceptors that run for a call. Origin-bound ones do not run for a foreign origin.
    fileprivate func adding(isElsewhere: Bool) -> [any Interceptor] {
        isElsewhere ? filter { !($0 is any OriginBoundInterceptor) } : self
    }
}

extension Answer {
    /// Returns the whole body, unless it is in a file.
    @inline(never)
    fileprivate func collected(upTo maxBytes: Int?) async throws(NetError) -> Bytes {
        switch body {
        case .bytes(let bytes): return bytes
        case .stream(let stream): return try await stream.collect(upTo: maxBytes ?? .max)
        case .file: throw NetError(.usage, "an interceptor left in a file what was not to be saved")
        }
    }
}
