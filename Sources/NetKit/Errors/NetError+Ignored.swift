extension NetError {
    /// The number of the call that was in flight instead (``Run/id``), for ``Code/ignored``; `nil` with any other code.
    public var runningID: UInt64? { code == .ignored ? UInt64(exactly: nativeCode) : nil }
}
