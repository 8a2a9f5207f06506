import NetKit
import NetKitAdapters
import NetKitTesting
import Testing

#if SwiftLog
import Logging
import Synchronization

/// Records the lines of a logger.
private struct LineHandler: LogHandler {
    final class Lines: Sendable {
        let list = Mutex<[String]>([])
    }

    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(_ lines: Lines) {
        self.lines = lines
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        lines.list.withLock { $0.append("\(event.level) \(event.message)") }
    }
}

struct SwiftLogTests {
    @Test func aCallIsLoggedAndItsSecretsAreHidden() async throws {
        let server = try MockServer()
        try server.register("/", with: .text("ok"))
        let lines = LineHandler.Lines()
        let logger = Logger(label: "test") { _ in LineHandler(lines) }
        var configuration = Agent.Configuration()
        configuration.observers = [RequestLog(logger, level: .info)]
        let agent = Agent(configuration)
        _ = try await agent.send(Request<String>("\(server.url)/?token=hush"))
        await agent.shutdown()
        let list = lines.list.withLock { $0 }
        #expect(!list.isEmpty && list.allSatisfy { $0.hasPrefix("info ") && !$0.contains("hush") })
        #expect(list.contains { $0.contains("200") })
    }
}
#endif

#if SwiftMetrics
import Metrics
import MetricsTestKit

struct SwiftMetricsTests {
    @Test func callsAreCountedByMethodAndOutcome() async throws {
        let metrics = TestMetrics()
        MetricsSystem.bootstrap(metrics)
        let server = try MockServer()
        try server.register("/", with: .text("ok"))
        var configuration = Agent.Configuration()
        configuration.observers = [RequestMetrics()]
        let agent = Agent(configuration)
        for path in ["/", "/", "/none"] {
            _ = try? await agent.send(Request<String>(server.url + path))
        }
        await agent.shutdown()
        let good = try metrics.expectCounter("netkit_calls", [("method", "GET"), ("outcome", "200")])
        #expect(good.values.reduce(0, +) == 2)
        let timer = try metrics.expectTimer("netkit_call_duration", [("method", "GET")])
        #expect(timer.values.count == 3 && timer.values.allSatisfy { $0 > 0 })
    }
}
#endif
