import FoundationEssentials

/// A directory that is removed after the test, with everything in it.
final class TemporaryTree: Sendable {
    let path: String

    init(in folder: String = "/tmp") throws {
        path = "\(folder)/nk-test-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }
}

extension TemporaryTree {
    /// All files in it, at any depth.
    var files: [(path: String, mode: Int, bytes: [UInt8])] {
        let manager = FileManager.default
        let paths = (try? manager.subpathsOfDirectory(atPath: path)) ?? []
        return paths.compactMap { name in
            guard let attributes = try? manager.attributesOfItem(atPath: file(name)),
                attributes[.type] as? FileAttributeType == .typeRegular
            else { return nil }
            let mode = attributes[.posixPermissions] as? Int
            return (name, mode ?? 0o777, Array(manager.contents(atPath: file(name)) ?? Data()))
        }
    }

    /// Returns the names in one of its directories, sorted.
    func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: file(folder)).sorted()
    }

    /// Changes the last byte of a file.
    func damage(_ name: String) throws {
        var bytes = FileManager.default.contents(atPath: file(name)) ?? Data()
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: URL(filePath: file(name)))
    }
}
