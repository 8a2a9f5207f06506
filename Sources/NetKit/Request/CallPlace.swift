/// The target of a request without query and fragment: as written, and as an absolute path or URL.
struct CallPlace: Sendable {
    private let written: Substring
    private let origin: Substring
    private let path: Substring

    /// - Parameter completed: the absolute URL.
    init(_ written: String, completed: String) {
        self.written = written.withoutQuery
        let place = completed.withoutUserinfo.withoutQuery
        let begin = place.firstRange(of: "://")?.upperBound ?? place.startIndex
        let slash = place[begin...].firstIndex(of: "/") ?? place.endIndex
        origin = place[..<slash]
        path = slash == place.endIndex ? "/" : place[slash...]
    }

    /// Returns true if `other` has this target. A URL includes the host; a path does not.
    func matches(_ other: CallPlace) -> Bool {
        if written == other.written {
            return true
        }
        return path == other.path && (!written.contains("://") || origin.lowercased() == other.origin.lowercased())
    }
}
