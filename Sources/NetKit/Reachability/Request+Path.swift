private enum WaitsNote: RequestNote {
    static let standard = false
}

private enum CellularNote: RequestNote {
    static let standard = true
}

extension Request {
    /// Whether the request waits, instead of failing, while its host is unreachable. Its total time limit
    /// (``Limits/total``) continues to count. False by default.
    public var waitsForConnectivity: Bool {
        get { self[WaitsNote.self] }
        set { self[WaitsNote.self] = newValue }
    }

    /// Whether the request may use a cellular path. If false and the system would use one, it fails with
    /// ``NetError/Code/cellularRefused`` before anything is sent. True by default;
    /// ``Agent/Configuration/allowsCellular`` must also be true.
    public var allowsCellular: Bool {
        get { self[CellularNote.self] }
        set { self[CellularNote.self] = newValue }
    }

    /// Whether the request depends on the path to its host.
    var asksForPath: Bool { hasNotes && (waitsForConnectivity || !allowsCellular) }
}
