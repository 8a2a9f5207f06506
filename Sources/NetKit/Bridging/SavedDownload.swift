#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A download with a transport that supports only saving. The transport saves the whole file beside its destination,
/// and the checks of the plan are made here.
final class SavedDownload: Sendable {
    private let plan: DownloadPlan
    /// The path that the transport saves to.
    let path: String

    init(_ plan: DownloadPlan) throws(NetError) {
        try plan.options.check()
        self.plan = plan
        path = WholeFile.nameBeside(Self.isDirectory(plan.path) ? "\(plan.path)/" : plan.path)
        if !plan.isAsked {
            try checkPlace(plan.path)
        }
    }

    deinit {
        _ = unsafe unlink(path)
    }

    /// Moves the file to its destination if it passes the checks.
    func keep(_ response: Response<Bytes>) async throws(NetError) -> SavedFile {
        let head = ResponseHead(
            status: response.status, headers: response.headers, httpVersion: response.httpVersion, url: response.url)
        let place = try await plan.destination(for: head) ?? plan.path
        try checkPlace(place)
        try await check(plan.options.sha256, .sha256, "SHA-256")
        try await check(plan.options.md5, .md5, "MD5")
        if unsafe rename(path, place) != 0 {
            throw NetError(system: errno, "'\(place)' cannot be replaced")
        }
        return SavedFile(path: place, byteCount: response.metrics.last?.decodedBytes ?? 0)
    }

    private func checkPlace(_ place: String) throws(NetError) {
        if Self.isDirectory(place) {
            throw NetError(.usage, "'\(place)' is a folder: over this transport a download needs its file's name")
        }
        try WholeFile.checkPlace(place)
        if plan.options.existing == .kept, unsafe access(place, F_OK) == 0 {
            throw NetError(system: EEXIST, "'\(place)' is there already")
        }
    }

    private func check(
        _ wanted: [UInt8]?, _ algorithm: Digest.Algorithm, _ name: String
    ) async throws(NetError) {
        guard let wanted = wanted.map({ Bytes($0) }) else { return }
        var digest = try Digest(algorithm)
        try await Body.file(path).forEachPiece { digest.update($0) }
        let found = try digest.finish()
        if found != wanted {
            throw NetError(.digestMismatch, "the file's \(name) is \(found.hexText), not \(wanted.hexText)")
        }
    }

    private static func isDirectory(_ path: String) -> Bool {
        var found = stat()
        return path.hasSuffix("/") || (unsafe stat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFDIR)
    }
}
