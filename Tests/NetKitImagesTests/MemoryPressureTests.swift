#if Images
#if canImport(Glibc)
import Glibc
import NetKit
import Testing

@testable import NetKitImages

struct MemoryPressureTests {
    /// Runs in a child process that has one file descriptor left: enough for the file, not for the watch.
    @Test func failedMonitorStartLeavesNoDescriptorOpen() async {
        await #expect(processExitsWith: .exitCode(7)) {
            var path = Array("/tmp/nk-test-XXXXXX".utf8CString)
            let free = unsafe mkstemp(&path)
            var file = stat()
            unsafe fstat(free, &file)
            close(free)
            let name = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            var initial = rlimit()
            unsafe getrlimit(openFiles, &initial)
            var limit = rlimit(rlim_cur: rlim_t(free) + 1, rlim_max: initial.rlim_max)
            unsafe setrlimit(openFiles, &limit)
            do {
                _ = try MemoryPressure(path: name) {}
            } catch let error as NetError {
                // A leak checker opens files while the process exits.
                unsafe setrlimit(openFiles, &initial)
                unsafe unlink(name)
                let isTheWatch = error.nativeCode == Int(EMFILE)
                // Other threads of the process open and close descriptors meanwhile.
                let isOpen = (0...free).contains { descriptor in
                    var one = stat()
                    return unsafe fstat(descriptor, &one) == 0 && one.st_ino == file.st_ino && one.st_dev == file.st_dev
                }
                exit(isTheWatch && !isOpen ? 7 : 8)
            }
        }
    }
}
#endif
#endif
