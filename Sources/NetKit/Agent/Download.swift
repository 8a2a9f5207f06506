/// A download under way: ``Agent/startDownload(_:to:options:destination:)`` makes one.
///
///     let download = agent.startDownload(request, to: "/data/")
///     for await progress in download.progress { show(progress) }
///     let file = try await download.response.value
///
/// It goes on when this is let go. Thread-safe.
public final class Download: Sendable {
    /// What happens to it, in order; for one reader. Of progress that was not read in time the newest alone is kept. It
    /// ends with the download.
    public let events: AsyncStream<DownloadEvent>
    /// How far it is: the newest word alone is kept; for one reader. It ends with the download.
    public let progress: AsyncStream<DownloadProgress>

    private let task: Task<Response<SavedFile>, any Error>
    private let plan: DownloadPlan

    init(
        task: Task<Response<SavedFile>, any Error>, plan: DownloadPlan, events: AsyncStream<DownloadEvent>,
        progress: AsyncStream<DownloadProgress>
    ) {
        self.task = task
        self.plan = plan
        self.events = events
        self.progress = progress
    }

    /// The response when the file is in its place; throws what ``Agent/download(_:to:options:events:destination:)``
    /// throws.
    public var response: Response<SavedFile> {
        get async throws(NetError) {
            do {
                return try await task.value
            } catch let error as NetError {
                throw error
            } catch {
                throw NetError(.internal, "a download failed with something else: \(error)", underlying: error)
            }
        }
    }

    /// Stops receiving until ``resume()``; also what an interceptor tries again.
    public func pause() {
        plan.setPaused(true)
    }

    /// Goes on after ``pause()``.
    public func resume() {
        plan.setPaused(false)
    }

    /// Changes its place among those that wait.
    public func setPriority(_ priority: Priority) {
        plan.setPriority(priority)
    }

    /// Ends it, and returns what it leaves behind once that is proven: nil when the file is in its place, or when there
    /// is nothing to go on with.
    @discardableResult
    public func cancel() async -> ResumeToken? {
        task.cancel()
        _ = await task.result
        return plan.token
    }

    /// What it left behind when it failed; nil while it runs.
    public var resumeToken: ResumeToken? { plan.token }
}
