/// Runs the members of a batch with limited concurrency.
struct Works: Sendable {
    let work: @Sendable (Int) async -> NetError?
    /// The members' tags.
    let tags: [Int]
    /// The order in which the members begin.
    let order: [Int]
    let limit: Int
    let endsWithFailure: Bool
    let progress: (@Sendable (BatchProgress) -> Void)?

    /// Returns the failed members, in the order in which they failed.
    ///
    /// Throws ``NetError/Code/cancelled`` without a failed part if the Swift task was cancelled before all members had
    /// ended.
    func run() async throws(NetError) -> [FailedPart] {
        var told = BatchProgress(total: tags.count, isOver: tags.isEmpty)
        progress?(told)
        let failures = await withTaskGroup { group in
            var failures: [FailedPart] = []
            var next = 0
            while next < tags.count, next < limit {
                begin(order[next], in: &group)
                next += 1
            }
            while let (index, error) = await group.next() {
                // The first failure is recorded already. An error that a cancellation caused is not a failure.
                if error != nil, Task.isCancelled || (endsWithFailure && !failures.isEmpty) {
                    continue
                }
                told.finished += 1
                if let error {
                    told.failed += 1
                    failures.append(FailedPart(index: index, name: nil, tag: tags[index], error: error))
                }
                if endsWithFailure && !failures.isEmpty {
                    group.cancelAll()
                    continue
                }
                if next < tags.count, !Task.isCancelled {
                    begin(order[next], in: &group)
                    next += 1
                }
                told.isOver = told.finished == told.total
                progress?(told)
            }
            return failures
        }
        let isWhole = told.finished == told.total
        if !told.isOver {
            told.isOver = true
            progress?(told)
        }
        if !isWhole && (failures.isEmpty || !endsWithFailure) {
            throw NetError(.cancelled, "the task was cancelled")
        }
        return failures
    }

    private func begin(_ index: Int, in group: inout TaskGroup<(Int, NetError?)>) {
        group.addTask { [work] in (index, await work(index)) }
    }
}
