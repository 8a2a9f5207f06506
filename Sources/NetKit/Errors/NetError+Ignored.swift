extension NetError {
    /// With ``Code/ignored``, the number of the start or call that was under way instead, see ``Run/id``; nil with any
    /// other code.
    public var runningID: UInt64? { code == .ignored ? UInt64(exactly: nativeCode) : nil }
}
