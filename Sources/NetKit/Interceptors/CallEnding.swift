/// An interceptor that is asked before a call's caller is told how it ended: behind statuses, types and decoding.
protocol CallEnding: Interceptor {
    /// Throws to put its error in the place of the outcome.
    func mayEnd(_ call: Call, _ outcome: Event.Outcome) async throws(NetError)
}

extension [any Interceptor] {
    /// Those that watch calls as well.
    var watching: [any Observer] { compactMap { $0 as? any Observer } }
    /// Those that are asked before a call ends.
    var ending: [any CallEnding] { compactMap { $0 as? any CallEnding } }
}
