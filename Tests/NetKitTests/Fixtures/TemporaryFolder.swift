#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A system call that failed.
struct SystemFailure: Error {
    let call: String
    let number = errno
}

/// A directory that is removed after the test, with its files.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/nk-test-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw SystemFailure(call: "mkdtemp") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in names {
            unsafe unlink(file(name))
        }
        unsafe rmdir(path)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// The names of its files, sorted.
    var names: [String] {
        guard let folder = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." {
                names.append(name)
            }
        }
        return names.sorted()
    }

    func write(_ bytes: [UInt8], to name: String, mode: mode_t = 0o644) throws {
        let descriptor = unsafe open(file(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw SystemFailure(call: "open") }
        defer { close(descriptor) }
        let count = unsafe pwrite(descriptor, bytes, bytes.count, 0)
        guard count == bytes.count else { throw SystemFailure(call: "pwrite") }
        fchmod(descriptor, mode)
    }

    func link(_ name: String, to target: String) throws {
        guard unsafe symlink(target, file(name)) == 0 else { throw SystemFailure(call: "symlink") }
    }

    /// Returns the contents, or `nil` if the file does not exist.
    func contents(of name: String) -> [UInt8]? {
        let descriptor = unsafe open(file(name), O_RDONLY | O_CLOEXEC)
        if descriptor < 0 {
            return nil
        }
        defer { close(descriptor) }
        let length = max(0, Int(lseek(descriptor, 0, SEEK_END)))
        // With a capacity of 0, this would be the shared empty array. The initializer writes to it, which the thread
        // sanitizer reports.
        return unsafe [UInt8](unsafeUninitializedCapacity: max(1, length)) { buffer, count in
            count = unsafe max(0, pread(descriptor, buffer.baseAddress, length, 0))
        }
    }

    /// Returns the type and the permissions of a file. Does not follow links.
    func mode(of name: String) -> mode_t {
        var status = stat()
        return unsafe lstat(file(name), &status) == 0 ? status.st_mode : 0
    }
}
