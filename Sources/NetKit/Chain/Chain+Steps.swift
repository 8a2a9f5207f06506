// Each number of values needs its own method. In a parameter pack, the compiler cannot infer a closure's parameter
// types before it has checked the preceding closure.

extension Chain {
    /// Returns the chain with one more step, which is created from the value of the preceding step.
    ///
    /// After several steps the closure takes all values in order: `.then { user, friends in … }`, up to six. A closure
    /// with one parameter receives them as a tuple; the new value is then stored beside that tuple.
    /// - Parameters:
    ///   - name: the step's name in an error.
    ///   - make: creates the step. An error thrown here fails the step.
    public func then<Next: Errand>(
        _ name: String? = nil, _ make: @escaping @Sendable (Values) async throws -> Next
    ) -> Chain<(Values, Next.Outcome.Value)> {
        adding(name, make) { ($0, $1) }
    }

    /// Returns the chain with one more step, created from the two values before it.
    public func then<A, B, Next: Errand>(
        _ name: String? = nil, _ make: @escaping @Sendable (A, B) async throws -> Next
    ) -> Chain<(A, B, Next.Outcome.Value)> where Values == (A, B) {
        adding(name, { try await make($0.0, $0.1) }, { ($0.0, $0.1, $1) })
    }

    /// Returns the chain with one more step, created from the three values before it.
    public func then<A, B, C, Next: Errand>(
        _ name: String? = nil, _ make: @escaping @Sendable (A, B, C) async throws -> Next
    ) -> Chain<(A, B, C, Next.Outcome.Value)> where Values == (A, B, C) {
        adding(name, { try await make($0.0, $0.1, $0.2) }, { ($0.0, $0.1, $0.2, $1) })
    }

    /// Returns the chain with one more step, created from the four values before it.
    public func then<A, B, C, D, Next: Errand>(
        _ name: String? = nil, _ make: @escaping @Sendable (A, B, C, D) async throws -> Next
    ) -> Chain<(A, B, C, D, Next.Outcome.Value)> where Values == (A, B, C, D) {
        adding(name, { try await make($0.0, $0.1, $0.2, $0.3) }, { ($0.0, $0.1, $0.2, $0.3, $1) })
    }

    /// Returns the chain with one more step, created from the five values before it.
    public func then<A, B, C, D, E, Next: Errand>(
        _ name: String? = nil, _ make: @escaping @Sendable (A, B, C, D, E) async throws -> Next
    ) -> Chain<(A, B, C, D, E, Next.Outcome.Value)> where Values == (A, B, C, D, E) {
        adding(name, { try await make($0.0, $0.1, $0.2, $0.3, $0.4) }, { ($0.0, $0.1, $0.2, $0.3, $0.4, $1) })
    }

    /// Returns the chain with one more step, created from the six values before it.
    public func then<A, B, C, D, E, F, Next: Errand>(
        _ name: String? = nil, _ make: @escaping @Sendable (A, B, C, D, E, F) async throws -> Next
    ) -> Chain<(A, B, C, D, E, F, Next.Outcome.Value)> where Values == (A, B, C, D, E, F) {
        adding(
            name, { try await make($0.0, $0.1, $0.2, $0.3, $0.4, $0.5) }, { ($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $1) })
    }
}
