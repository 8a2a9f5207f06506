// The compiler cannot find the types of a closure's parameters in a parameter pack while the closure before it is still
// being read, so a row of steps needs a method for each number of values.

extension Chain {
    /// The chain with one more step, made when the one before it has ended, from its value.
    ///
    /// After several steps it takes as many values, in their order: `.then { user, friends in … }`. Up to six; a closure
    /// with one parameter gets all of them as a tuple, and what comes of it stands beside that tuple.
    /// - Parameters:
    ///   - name: what a failure calls the step.
    ///   - make: what it throws fails the step.
    public func then<Next: Errand>(
        _ name: String? = nil, _ make: @escaping @Sendable (Values) async throws -> Next
    ) -> Chain<(Values, Next.Outcome.Value)> {
        adding(name, make) { ($0, $1) }
    }

    /// The chain with one more step, made from the values of the two before it.
    public func then<A, B, Next: Errand>(
        _ name: String? = nil, _ make: @escaping @Sendable (A, B) async throws -> Next
    ) -> Chain<(A, B, Next.Outcome.Value)> where Values == (A, B) {
        adding(name, { try await make($0.0, $0.1) }, { ($0.0, $0.1, $1) })
    }

    /// The chain with one more step, made from the values of the three before it.
    public func then<A, B, C, Next: Errand>(
        _ name: String? = nil, _ make: @escaping @Sendable (A, B, C) async throws -> Next
    ) -> Chain<(A, B, C, Next.Outcome.Value)> where Values == (A, B, C) {
        adding(name, { try await make($0.0, $0.1, $0.2) }, { ($0.0, $0.1, $0.2, $1) })
    }

    /// The chain with one more step, made from the values of the four before it.
    public func then<A, B, C, D, Next: Errand>(
        _ name: String? = nil, _ make: @escaping @Sendable (A, B, C, D) async throws -> Next
    ) -> Chain<(A, B, C, D, Next.Outcome.Value)> where Values == (A, B, C, D) {
        adding(name, { try await make($0.0, $0.1, $0.2, $0.3) }, { ($0.0, $0.1, $0.2, $0.3, $1) })
    }

    /// The chain with one more step, made from the values of the five before it.
    public func then<A, B, C, D, E, Next: Errand>(
        _ name: String? = nil, _ make: @escaping @Sendable (A, B, C, D, E) async throws -> Next
    ) -> Chain<(A, B, C, D, E, Next.Outcome.Value)> where Values == (A, B, C, D, E) {
        adding(name, { try await make($0.0, $0.1, $0.2, $0.3, $0.4) }, { ($0.0, $0.1, $0.2, $0.3, $0.4, $1) })
    }

    /// The chain with one more step, made from the values of the six before it.
    public func then<A, B, C, D, E, F, Next: Errand>(
        _ name: String? = nil, _ make: @escaping @Sendable (A, B, C, D, E, F) async throws -> Next
    ) -> Chain<(A, B, C, D, E, F, Next.Outcome.Value)> where Values == (A, B, C, D, E, F) {
        adding(
            name, { try await make($0.0, $0.1, $0.2, $0.3, $0.4, $0.5) }, { ($0.0, $0.1, $0.2, $0.3, $0.4, $0.5, $1) })
    }
}
