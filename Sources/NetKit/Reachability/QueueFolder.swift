#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A folder of requests, each in a file of its own that is whole or absent: it is written beside its place, synced and
/// renamed into it.
///
/// What lies in it is sent, with what `prepare` adds. So neither the folder nor a file in it may be one that another user
/// could have written.
struct QueueFolder: Sendable {
    let path: String
    private let state: StateFolder

    /// Makes the folder, for its owner alone, when it is not there, and holds it for one queue.
    ///
    /// Throws ``NetError/Code/file`` when that cannot be done, another queue has it, or other users can write to it.
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

    /// The folders that will get a new one.
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

    /// Where the body of a request is copied to.
    func bodyFile(_ id: Int) -> String { "\(path)/\(Self.name(id)).body" }

    private static func name(_ id: Int) -> String {
        let digits = String(id)
        return String(repeating: "0", count: max(0, 12 - digits.count)) + digits
    }

    /// What is there, in order, and the last number that is taken. What is no request of this form is left alone, and
    /// keeps its number; what a broken write left behind goes.
    ///
    /// Throws ``NetError/Code/file`` when another user could have written one of the files.
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

    /// Nil for what cannot be read; what is not to be trusted is an error.
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

    /// A copy lies where the folder is now, wherever it was when the copy was made.
    private func here(_ request: QueuedRequest, _ names: [String]) throws(NetError) -> QueuedRequest {
        let copy = "\(Self.name(request.id)).body"
        guard let file = request.bodyFile, file.hasSuffix("/" + copy), names.contains(copy) else { return request }
        try state.check(copy)
        var request = request
        request.bodyFile = bodyFile(request.id)
        return request
    }

    /// The number of a description's name, behind which there is room for more.
    private static func number(of name: String) -> Int? {
        guard name.hasSuffix(".json"), let number = Int(name.dropLast(5)), (1...1 << 52).contains(number),
            // Under another spelling it would be sent, and never go.
            name == Self.name(number) + ".json"
        else { return nil }
        return number
    }

    /// What a broken write left behind, and the copy of a body whose request was never written down or is gone.
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
        // The body's name, which is there already, with it.
        try WholeFile.sync(folder: path)
    }

    /// Writes a request down for the first time; nothing is left behind when that fails, as late as it may.
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
    /// The same place for a process with another working directory.
    var absolutePath: String { hasPrefix("/") ? self : FileManager.default.currentDirectoryPath + "/" + self }
}
