/// An interceptor that is called before a call's caller receives the outcome, after status, type and decoding were
/// checked.
protocol CallEnding: Interceptor {
    /// Throws an error to replace the outcome.
    func mayEnd(_ call: Call, _ outcome: Event.Outcome) async throws(NetError)
}

extension [any Interceptor] {
    /// The interceptors that observe calls too.
    var watching: [any Observer] { compactMap { $0 as? any Observer } }
    /// The interceptors that are called before a call ends.
    var ending: [any CallEnding] { compactMap { $0 as? any CallEnding } }
}
