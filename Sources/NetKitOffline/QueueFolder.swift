#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
internal import NetKit

/// A directory with one file for each stored request. A file is written under a temporary name, synced and renamed, so
/// it is either complete or absent.
///
/// The stored requests are sent with the secrets that `prepare` adds. Therefore neither the directory nor a file in it
/// may be writable by another user.
struct QueueFolder: Sendable {
    let path: String
    private let state: StateFolder

    /// Opens the directory and locks it for one queue. If it does not exist, it is created with access for its owner
    /// only.
    ///
    /// - Throws: `NetError.Code.file` if that fails, if another queue uses the directory, or if other users can write
    ///   to it.
    init(_ path: String) throws(NetError) {
        if path.isEmpty || path.utf8.contains(0) {
            throw NetError(.usage, "the path of the queue's folder is empty or contains a NUL byte")
        }
        self.path = path.absolutePath
        let directories = Self.directoriesToSync(self.path)
        do {
            try FileManager.default.createDirectory(
                atPath: self.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw NetError(.file, "the queue's folder cannot be created: \(error)", underlying: error)
        }
        for folder in directories {
            try WholeFile.sync(folder: folder)
        }
        state = try StateFolder(self.path)
        try state.lock()
    }

    /// Returns the directories in which a new entry will appear when the path is created. They must be synced.
    private static func directoriesToSync(_ path: String) -> [String] {
        var directories: [String] = []
        var current = path[...]
        while !FileManager.default.fileExists(atPath: String(current)), let slash = current.utf8.lastIndex(of: 0x2F) {
            current = current[..<slash]
            directories.append(current.isEmpty ? "/" : String(current))
        }
        return directories
    }

    private func file(_ id: Int) -> String { "\(path)/\(Self.name(id)).json" }

    /// Returns the path of the copy of a request's body.
    func bodyFile(_ id: Int) -> String { "\(path)/\(Self.name(id)).body" }

    private static func name(_ id: Int) -> String {
        let digits = String(id)
        return String(repeating: "0", count: max(0, 12 - digits.count)) + digits
    }

    /// Returns the stored requests in order, and the last used number. Files that cannot be decoded are left unchanged,
    /// and their numbers are not reused. Leftovers of interrupted writes are deleted.
    ///
    /// - Throws: `NetError.Code.file` if another user could have written one of the files.
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
            kept.append(try relocated(request, names))
        }
        return (kept.sorted { $0.id < $1.id }, names.compactMap(Self.number).max() ?? 0)
    }

    /// Returns the content of a file, or `nil` if it cannot be read. Throws if another user could have written the
    /// file.
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

    /// Returns the request with the current path of the file with its copied body. The stored path is outdated if the
    /// directory was moved.
    private func relocated(_ request: QueuedRequest, _ names: [String]) throws(NetError) -> QueuedRequest {
        let copy = "\(Self.name(request.id)).body"
        guard let file = request.bodyFile, file.hasSuffix("/" + copy), names.contains(copy) else { return request }
        try state.check(copy)
        var request = request
        request.bodyFile = bodyFile(request.id)
        return request
    }

    /// Returns the number in the file name of a request, or `nil` for another file. Numbers above 2^52 are not
    /// accepted, so that there are always larger numbers for later requests.
    private static func number(of name: String) -> Int? {
        guard name.hasSuffix(".json"), let number = Int(name.dropLast(5)), (1...1 << 52).contains(number),
            // A file whose name has another spelling of the number would be sent, but could not be deleted.
            name == Self.name(number) + ".json"
        else { return nil }
        return number
    }

    /// Returns true for a file that an interrupted write left behind, and for the copy of a body whose request does not
    /// exist.
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
            throw NetError(.encoding, "the request cannot be encoded: \(error)", underlying: error)
        }
        let file = try WholeFile(file(request.id), mode: 0o600)
        try file.write(Bytes(data))
        try file.keep()
        // This also makes the name of the body's file durable, if there is one.
        try WholeFile.sync(folder: path)
    }

    /// Writes a new request. If writing fails, no file remains.
    func add(_ request: QueuedRequest) throws(NetError) {
        do throws(NetError) {
            try write(request)
        } catch {
            remove(request.id)
            throw error
        }
    }

    /// Writes the bytes of a body, as they would be sent, into the body file of a request.
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
    /// The path in absolute form, so that it does not depend on the working directory.
    var absolutePath: String { hasPrefix("/") ? self : FileManager.default.currentDirectoryPath + "/" + self }
}

/// The requests of a queue, in order of arrival. While a request is being written to its file, later requests are not
/// sent.
struct QueueOrder: Sendable {
    private(set) var kept: [QueuedRequest]
    private var writing: Set<Int> = []
    private var last: Int

    init(kept: [QueuedRequest], last: Int) {
        self.kept = kept
        self.last = last
    }

    /// Whether the queue has no requests: neither written ones nor ones that are being written. Otherwise a new request
    /// could overtake them.
    var isEmpty: Bool { kept.isEmpty && writing.isEmpty }

    /// The next request to send. `nil` if there is none, or if an earlier one is still being written.
    var next: QueuedRequest? {
        guard let first = kept.first, writing.allSatisfy({ $0 > first.id }) else { return nil }
        return first
    }

    /// Returns the number of a new request, which is recorded as being written. Returns `nil` if the queue is full.
    mutating func begin(upTo maxCount: Int) -> Int? {
        guard kept.count + writing.count < maxCount else { return nil }
        last += 1
        writing.insert(last)
        return last
    }

    /// Records that a request was written, so that it may be sent. `record` is `nil` if writing failed.
    mutating func end(_ number: Int, _ record: QueuedRequest?) {
        writing.remove(number)
        if let record {
            kept.insert(record, at: kept.firstIndex { $0.id > number } ?? kept.count)
        }
    }

    /// Removes a request. Returns false if it is not in the queue.
    mutating func remove(_ id: QueuedRequest.ID) -> Bool {
        let count = kept.count
        kept.removeAll { $0.id == id }
        return kept.count < count
    }
}
