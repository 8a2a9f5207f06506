import NetKit
import NetKitTesting
import Testing

/// Code that waits for a disk blocks neither the event loop nor the main actor.
@Suite(.timeLimit(.minutes(5)))
struct DiskExecutorTests {
    private let threads = Collected<UInt>()

    /// A body that records the threads that read it. It is read by the code that writes it to disk.
    private var body: Body {
        .pull { [threads] in
            var isOver = false
            return { span in
                threads.append(currentThread())
                defer { isOver = true }
                span[0] = UInt8(ascii: "x")
                return isOver ? 0 : 1
            }
        }
    }

    private var form: MultipartBody {
        var form = MultipartBody()
        form.append(body, name: "a")
        return form
    }

    private func expectOthers(than thread: UInt) {
        #expect(!threads.values.isEmpty && !threads.values.contains(thread))
    }

    @Test @MainActor func formIsNotWrittenOnTheMainActor() async throws {
        let folder = try TemporaryFolder()
        try await form.write(toFile: folder.file("form"))
        expectOthers(than: currentThread())
    }

    @Test func formIsNotWrittenOnTheEventLoop() async throws {
        let folder = try TemporaryFolder()
        let thread = try await withTaskExecutorPreference(Agent().executor) {
            try await form.write(toFile: folder.file("form"))
            return currentThread()
        }
        expectOthers(than: thread)
    }
}
