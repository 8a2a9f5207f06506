import Dispatch
import NetKit
import Synchronization

/// A gate that opens once. Synchronous code may block on it, so that a test can detect blocked threads.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() {
        semaphore.signal()
    }

    /// Returns false after `seconds`. Then the code that should open the gate is itself waiting for the caller.
    func wait(seconds: Int = 30) -> Bool {
        guard semaphore.wait(timeout: .now() + .seconds(seconds)) == .success else { return false }
        semaphore.signal()
        return true
    }
}

extension Gate {
    struct NeverOpened: Error {}

    /// Waits without blocking a thread of the cooperative pool.
    func opened() async throws {
        let isOpen = await withCheckedContinuation { continuation in
            DispatchQueue(label: "Gate.wait").async { continuation.resume(returning: self.wait(seconds: 120)) }
        }
        if !isOpen {
            throw NeverOpened()
        }
    }
}

/// A counter that any thread may increase.
final class Counter: Sendable {
    private let storage = Atomic(0)

    var value: Int { storage.load(ordering: .sequentiallyConsistent) }

    @discardableResult
    func increment() -> Int {
        storage.add(1, ordering: .sequentiallyConsistent).newValue
    }
}

/// A random number generator that returns the same numbers in each run.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        // SplitMix64.
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// The outcome of a request.
enum Ending: Hashable, Sendable {
    case answered
    case failed(NetError.Code)
}

/// Sends the request and returns its outcome.
func ending(of request: Request<some Sendable>, from agent: Agent) async -> Ending {
    do throws(NetError) {
        _ = try await agent.send(request)
        return .answered
    } catch {
        return .failed(error.code)
    }
}

/// Returns the code of the error that the operation throws, or `nil` if it succeeds.
func failureCode(of operation: () async throws(NetError) -> Void) async -> NetError.Code? {
    do throws(NetError) {
        try await operation()
        return nil
    } catch {
        return error.code
    }
}

/// A weak reference, to check that the agent has been deallocated.
struct WeakAgent {
    private(set) weak var agent: Agent?

    init(_ agent: Agent) {
        self.agent = agent
    }
}
