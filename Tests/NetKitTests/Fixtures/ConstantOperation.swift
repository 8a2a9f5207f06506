import NetKit

/// An operation whose value is known without an agent.
struct ConstantOperation: SendableOperation {
    struct Outcome: OperationOutput {
        let value: String
        let isFromCache: Bool
    }

    var value = "known"
    var isFromCache = true

    func run(through sender: some RequestSender) async throws(NetError) -> Outcome {
        Outcome(value: value, isFromCache: isFromCache)
    }
}
