#if canImport(Glibc)
import Glibc
import NetKit
import Testing

@testable import NetKitImages

struct MemoryPressureTests {
    /// In a process of its own, which has one descriptor left: for the file, and none for the watch.
    @Test func aWatchThatCannotBeginLeavesNothingOpen() async {
        await #expect(processExitsWith: .exitCode(7)) {
            var path = Array("/tmp/nk-test-XXXXXX".utf8CString)
            let free = unsafe mkstemp(&path)
            close(free)
            let name = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            var limit = rlimit(rlim_cur: rlim_t(free) + 1, rlim_max: rlim_t(free) + 1)
            unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            do {
                _ = try MemoryPressure(path: name) {}
            } catch let error as NetError {
                unsafe unlink(name)
                let isTheWatch = error.nativeCode == Int(EMFILE)
                let isClosed = fcntl(free, F_GETFD) < 0
                exit(isTheWatch && isClosed ? 7 : 8)
            }
        }
    }
}
#endif
