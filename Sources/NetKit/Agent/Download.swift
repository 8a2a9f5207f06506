/// A running download, created by ``Agent/startDownload(_:to:options:destination:)``.
///
///     let download = agent.startDownload(request, to: "/data/")
///     for await progress in download.progress { show(progress) }
///     let file = try await download.response.value
///
/// The download continues after this object is deallocated. Thread-safe.
public final class Download: Sendable {
    /// The events of the download, in order, for one reader. Of unread progress only the newest is kept. The sequence
    /// ends with the download.
    public let events: AsyncStream<DownloadEvent>
    /// The progress, for one reader. Only the newest value is kept. The sequence ends with the download.
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

    /// The response, when the file is at its destination. Throws the same errors as
    /// ``Agent/download(_:to:options:events:destination:)``.
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

    /// Stops receiving until ``resume()``, including attempts that an interceptor makes.
    public func pause() {
        plan.setPaused(true)
    }

    /// Continues after ``pause()``.
    public func resume() {
        plan.setPaused(false)
    }

    /// Changes its priority among the transfers that wait.
    public func setPriority(_ priority: Priority) {
        plan.setPriority(priority)
    }

    /// Cancels the download and returns its resume token when the checkpoint is written. Returns `nil` if the file is
    /// at its destination, or if there is nothing to continue with.
    @discardableResult
    public func cancel() async -> ResumeToken? {
        task.cancel()
        _ = await task.result
        return plan.token
    }

    /// The resume token of a failed download; `nil` while it runs.
    public var resumeToken: ResumeToken? { plan.token }
}
