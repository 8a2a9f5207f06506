import NetKit
import NetKitTesting
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Whose a folder of uploads is.
struct UploadFolderTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func aFolderHasOneQueueAtATime() throws {
        var first: UploadQueue? = try UploadQueue(folder: folder.path)
        let error = #expect(throws: NetError.self) { try UploadQueue(folder: folder.path) }
        #expect(error?.code == .file && error?.nativeCode == Int(EWOULDBLOCK))
        #expect(error?.message.contains("used by another queue") == true)
        #expect(first != nil)
        first = nil
        _ = try UploadQueue(folder: folder.path)
    }

    private func descriptors(of path: String) -> [Int32] {
        var wanted = stat()
        guard unsafe stat(path, &wanted) == 0 else { return [] }
        return (0..<Int32(1024)).filter { descriptor in
            var found = stat()
            return unsafe fstat(descriptor, &found) == 0 && found.st_ino == wanted.st_ino
                && found.st_dev == wanted.st_dev
        }
    }

    @Test func aFolderIsLetGoOfAlthoughAChildHasItToo() throws {
        var first: UploadQueue? = try UploadQueue(folder: folder.path)
        // Between fork() and exec() a child has all descriptors.
        let inherited = descriptors(of: folder.path).map { dup($0) }
        defer { inherited.forEach { _ = close($0) } }
        #expect(inherited.count == 1 && first != nil)
        first = nil
        _ = try UploadQueue(folder: folder.path)
    }

    @Test func aFolderThatCannotBeUsedIsTold() throws {
        for path in ["", "/dev/null/x", "/proc/self/x"] {
            #expect(throws: NetError.self) { try UploadQueue(folder: path) }
        }
    }
}
