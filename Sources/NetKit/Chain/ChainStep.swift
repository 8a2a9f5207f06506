/// One step of a chain or a graph. It is created, then run; its error contains its name.
struct ChainStep: Sendable {
    let index: Int
    let name: String?

    func run<Work: Errand>(
        through sender: some RequestSender, _ make: () async throws -> Work
    ) async throws(NetError) -> Work.Outcome {
        try checkCancellation()
        let errand: Work
        do {
            errand = try await make()
        } catch {
            throw failure(tag: 0, Self.error(from: error))
        }
        do throws(NetError) {
            return try await errand.run(through: sender)
        } catch {
            throw failure(tag: errand.tag, error)
        }
    }

    /// A step that ended because its Swift task was cancelled did not fail.
    private func failure(tag: Int, _ error: NetError) -> NetError {
        if Task.isCancelled {
            return NetError(.cancelled, "the task was cancelled")
        }
        return NetError("step", FailedPart(index: index, name: name, tag: tag, error: error))
    }

    private static func error(from error: any Error) -> NetError {
        error as? NetError ?? NetError(.stoppedByCaller, "it could not be made: \(error)", underlying: error)
    }
}

/// Throws ``NetError/Code/cancelled`` without a failed part if the Swift task was cancelled.
func checkCancellation() throws(NetError) {
    if Task.isCancelled {
        throw NetError(.cancelled, "the task was cancelled")
    }
}
