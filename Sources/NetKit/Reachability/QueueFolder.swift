#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A directory of requests. Each is in a separate file that is complete or absent: it is written under a temporary
/// name, synced and renamed.
///
/// The requests in it are sent with the secrets that `prepare` adds. So neither the directory nor a file in it may be
/// writable by another user.
struct QueueFolder: Sendable {
    let path: String
    private let state: StateFolder

    /// Creates the directory, accessible to its owner only, if it does not exist. Locks it for one queue.
    ///
    /// Throws ``NetError/Code/file`` if that fails, if another queue uses it, or if other users can write to it.
    init(_ path: String) throws(NetError) {
        if path.isEmpty || path.utf8.contains(0) {
            throw NetError(.usage, "the path of the queue's folder is empty or holds a NUL")
        }
        self.path = path.absolutePath
        let above = Self.ancestorsToMake(self.path)
        do {
            try FileManager.default.createDirectory(
                atPath: self.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw NetError(.file, "the queue's folder cannot be made: \(error)", underlying: error)
        }
        for folder in above {
            try WholeFile.sync(folder: folder)
        }
        state = try StateFolder(self.path)
        try state.lock()
    }

    /// The directories in which a new one will be created.
    private static func ancestorsToMake(_ path: String) -> [String] {
        var above: [String] = []
        var place = path[...]
        while !FileManager.default.fileExists(atPath: String(place)), let slash = place.utf8.lastIndex(of: 0x2F) {
            place = place[..<slash]
            above.append(place.isEmpty ? "/" : String(place))
        }
        return above
    }

    private func file(_ id: Int) -> String { "\(path)/\(Self.name(id)).json" }

    /// Returns the path of the copy of a request's body.
    func bodyFile(_ id: Int) -> String { "\(path)/\(Self.name(id)).body" }

    private static func name(_ id: Int) -> String {
        let digits = String(id)
        return String(repeating: "0", count: max(0, 12 - digits.count)) + digits
    }

    /// Returns the stored requests in order, and the last used number. Files of another format are left alone and keep
    /// their numbers. Remains of interrupted writes are deleted.
    ///
    /// Throws ``NetError/Code/file`` if another user could have written one of the files.
    func load() throws(NetError) -> (kept: [QueuedRequest], last: Int) {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw NetError(.file, "the queue's folder cannot be read: \(error)", underlying: error)
        }
        for name in names where Self.isLeftover(name, among: names) {
            try? FileManager.default.removeItem(atPath: "\(path)/\(name)")
        }
        var kept: [QueuedRequest] = []
        for name in names {
            guard let id = Self.number(of: name), let data = try contents(of: name),
                let request = try? JSONDecoder().decode(QueuedRequest.self, from: data), request.id == id
            else { continue }
            kept.append(try here(request, names))
        }
        return (kept.sorted { $0.id < $1.id }, names.compactMap(Self.number).max() ?? 0)
    }

    /// Returns `nil` for an unreadable file. Throws for an untrusted one.
    private func contents(of name: String) throws(NetError) -> Data? {
        do throws(NetError) {
            return Data(try state.contents(of: name))
        } catch {
            if error.isDistrust {
                throw error
            }
            return nil
        }
    }

    /// Returns the request with the current path of its body's copy: the directory may have been moved.
    private func here(_ request: QueuedRequest, _ names: [String]) throws(NetError) -> QueuedRequest {
        let copy = "\(Self.name(request.id)).body"
        guard let file = request.bodyFile, file.hasSuffix("/" + copy), names.contains(copy) else { return request }
        try state.check(copy)
        var request = request
        request.bodyFile = bodyFile(request.id)
        return request
    }

    /// Returns the number in a record's file name. It leaves room for larger numbers.
    private static func number(of name: String) -> Int? {
        guard name.hasSuffix(".json"), let number = Int(name.dropLast(5)), (1...1 << 52).contains(number),
            // Under another spelling it would be sent, but never deleted.
            name == Self.name(number) + ".json"
        else { return nil }
        return number
    }

    /// Whether it is left by an interrupted write, or the copy of a body whose request was never written or is gone.
    private static func isLeftover(_ name: String, among names: [String]) -> Bool {
        if name.hasSuffix(".part") {
            return name.contains(".json.nk-") || name.contains(".body.nk-")
        }
        guard name.hasSuffix(".body"), Int(name.dropLast(5)) != nil else { return false }
        return !names.contains(name.dropLast(5) + ".json")
    }

    func write(_ request: QueuedRequest) throws(NetError) {
        let data: Data
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            data = try encoder.encode(request)
        } catch {
            throw NetError(.unencodable, "the request cannot be written down: \(error)", underlying: error)
        }
        let file = try WholeFile(file(request.id), mode: 0o600)
        try file.write(Bytes(data))
        try file.keep()
        // Also makes the name of an existing body file durable.
        try WholeFile.sync(folder: path)
    }

    /// Writes a new request. If that fails at any step, no file remains.
    func add(_ request: QueuedRequest) throws(NetError) {
        do throws(NetError) {
            try write(request)
        } catch {
            remove(request.id)
            throw error
        }
    }

    /// Copies a body, as it is sent, into its file.
    func copy(_ body: Body, for id: Int) async throws(NetError) {
        let file = try WholeFile(bodyFile(id), mode: 0o600)
        try await body.forEachPiece { piece throws(NetError) in
            try file.write(piece)
        }
        try file.keep()
    }

    func remove(_ id: Int) {
        try? FileManager.default.removeItem(atPath: file(id))
        try? FileManager.default.removeItem(atPath: bodyFile(id))
    }
}

extension String {
    /// The same path for a process with another working directory.
    var absolutePath: String { hasPrefix("/") ? self : FileManager.default.currentDirectoryPath + "/" + self }
}
