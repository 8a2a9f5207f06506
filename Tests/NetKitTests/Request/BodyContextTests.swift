import NetKit
import Testing

/// Code that produces a body runs with the priority and task-local values of the sending task.
@Suite(.timeLimit(.minutes(5)))
struct BodyContextTests {
    @TaskLocal private static var taskValue = "default"

    private let server: LoopbackServer
    private let marks = Collected<String>()
    private let priorities = Collected<TaskPriority>()

    init() throws {
        server = try LoopbackServer()
        server.script("/", .text("x"))
        server.script("/moved", .redirect(to: "/", status: 307))
    }

    private var body: Body {
        .stream { [marks, priorities] in
            marks.append(Self.taskValue)
            return Pieces { index in
                marks.append(Self.taskValue)
                priorities.append(Task.currentPriority)
                return index == 0 ? Bytes(pattern(100)) : nil
            }
        }
    }

    /// Sends without awaiting the task, because awaiting would raise its priority.
    private func send(_ send: @escaping @Sendable () async throws -> Void) async throws {
        let isOver = Collected<Bool>()
        let task = Task(priority: .high) {
            defer { isOver.append(true) }
            try await Self.$taskValue.withValue("the caller's", operation: send)
        }
        while isOver.values.isEmpty {
            await Task.yield()
        }
        try await task.value
    }

    @Test(arguments: ["/", "/moved"])
    func sequenceInheritsTaskLocalsAndPriorityOfTheSender(path: String) async throws {
        let request = Request<Void>(server.url(path), method: .put, body: body)
        try await send { _ = try await Agent().send(request) }
        #expect(marks.values.count == (path == "/" ? 3 : 6))
        #expect(Set(marks.values) == ["the caller's"])
        #expect(priorities.values.allSatisfy { $0 == .high })
    }

    @Test func streamedCallAndFormPartInheritTaskLocalsAndPriority() async throws {
        let streamed = Request<Bytes>(server.url("/"), method: .put, body: body)
        try await send { for try await _ in try await Agent().stream(streamed) {} }
        var form = MultipartBody()
        form.append(body, name: "part")
        let posted = Request<Void>(server.url("/"), method: .post, body: try .multipart(form))
        try await send { _ = try await Agent().send(posted) }
        #expect(marks.values == Array(repeating: "the caller's", count: 6))
    }
}
