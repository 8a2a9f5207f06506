private enum WaitsNote: RequestNote {
    static let standard = false
}

private enum CellularNote: RequestNote {
    static let standard = true
}

extension Request {
    /// Whether it waits, rather than fail, while there is no way to its host; its total time limit
    /// (``Limits/total``) goes on meanwhile. False by default.
    public var waitsForConnectivity: Bool {
        get { self[WaitsNote.self] }
        set { self[WaitsNote.self] = newValue }
    }

    /// Whether it may go over a modem. When not, and the system would send it there, it fails before anything is sent
    /// with ``NetError/Code/cellularRefused``. True by default; ``Agent/Configuration/allowsCellular`` must agree.
    public var allowsCellular: Bool {
        get { self[CellularNote.self] }
        set { self[CellularNote.self] = newValue }
    }

    /// Whether the way to its host matters before it is sent.
    var asksForPath: Bool { hasNotes && (waitsForConnectivity || !allowsCellular) }
}
