/// The listeners of one task. Their closures are kept until they have been called, and no longer.
final class Audience<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, NetError>

    private struct Kept: Sendable {
        var hooks: OutcomeHooks<Value>
        var completion: (@Sendable (Outcome) -> Void)?
    }

    private let kept: Lock<Kept?>
    private let delivery: Delivery
    private let tellsCancellation: Bool
    private weak let delegate: (any RunDelegate)?

    init(_ launch: Launch<Value>) {
        kept = Lock(Kept(hooks: launch.hooks, completion: launch.completion))
        delivery = launch.delivery
        tellsCancellation = launch.options.tellsCancellation
        delegate = launch.delegate
    }

    /// Passes the outcome to the preprocessor, on the caller's thread.
    func preprocess(_ outcome: Outcome, of control: RunControl) async -> Outcome {
        guard !isSilent(outcome, control), let hooks = kept.withLock({ $0?.hooks }) else { return outcome }
        return await hooks.preprocess(outcome)
    }

    /// Notifies all listeners without interruption, and returns the outcome that they received.
    func tell(_ outcome: Outcome, of control: RunControl, forgetting: @escaping @Sendable () -> Void) async -> Outcome {
        await delivery.run { [self] in
            var told = outcome
            if control.beginsStopping(), !outcome.isCancelled {
                told = .failure(NetError(.cancelled, "the start was cancelled when its outcome was about to be told"))
            }
            told = announce(told, control)
            forgetting()
            control.ended(with: told.failure)
            delegate?.runCleared(control.run)
            return told
        }
    }

    /// Notifies the listeners. The closures are released when it returns.
    private func announce(_ outcome: Outcome, _ control: RunControl) -> Outcome {
        let kept = kept.withLock { kept in
            defer { kept = nil }
            return kept
        }
        let run = control.run
        let accessories = control.accessories
        var outcome = outcome
        for accessory in accessories {
            accessory.willStop(run)
        }
        if !isSilent(outcome, control), let kept {
            outcome = kept.hooks.filter(outcome)
            switch outcome {
            case .success(let value): delegate?.run(run, finishedWith: value)
            case .failure(let error): delegate?.run(run, failedWith: error)
            }
            kept.completion?(outcome)
        }
        for accessory in accessories {
            accessory.didStop(run)
        }
        return outcome
    }

    /// Whether the outcome is not reported. A batch or chain is notified when only one of its members was cancelled,
    /// because its owner did not cancel it.
    private func isSilent(_ outcome: Outcome, _ control: RunControl) -> Bool {
        guard !tellsCancellation, let error = outcome.failure, error.code == .cancelled else { return false }
        return error.failedPart == nil || control.isCancelled
    }
}

extension Result where Failure == NetError {
    fileprivate var failure: NetError? {
        if case .failure(let error) = self { error } else { nil }
    }

    fileprivate var isCancelled: Bool {
        if case .failure(let error) = self { error.code == .cancelled } else { false }
    }
}
