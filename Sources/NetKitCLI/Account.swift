import NetKit

/// What became of one URL: all that -w, --timing and the exit code are made of.
struct Account: Sendable {
    let job: Job
    var method = Method.get
    var status = 0
    var headers: Headers = [:]
    var metrics = Metrics()
    /// Body bytes of the last request that were sent, as they are told while they go.
    let sent = Lock(0)
    /// Where the body is, when it is in a file.
    var fileName: String?
    var exitCode = ExitCode.success
    /// Nil when it went well, or when there is nobody to tell.
    var message: String?

    init(_ job: Job) {
        self.job = job
    }

    var uploadedBytes: Int { sent.withLock { $0 } }

    /// The URL that answered, or the one that was asked.
    var url: String { metrics.last?.url ?? WrittenURL(job.url).withoutLogin }

    /// Where a redirect that was not followed leads; without a name and a password in it.
    var redirectURL: String? {
        guard (300...399).contains(status), let place = headers.reference("Location"), !place.isEmpty else {
            return nil
        }
        return (try? resolveReference(place, at: url)).map { WrittenURL($0).withoutLogin }
    }

    /// That of the last request: a redirect may have changed it.
    var lastMethod: Method {
        metrics.dropLast().reduce(method) { Verbose.methodAfter($1.status, $0) }
    }

    /// When the server says that its body was changed; seconds since 1970.
    var modified: Int64? { headers["Last-Modified"].flatMap(HTTPDate.epochSeconds) }

    var took: Duration { metrics.last?.ended ?? .zero }

    /// Up to a moment in each hop, one after the other, as curl counts.
    func sum(to moment: (HopMetrics) -> Duration?) -> Duration {
        var begin = Duration.zero
        var sum = Duration.zero
        for hop in metrics {
            sum += max(.zero, (moment(hop) ?? begin) - begin)
            begin = hop.ended ?? begin
        }
        return sum
    }

    /// The time that the hops before the last one took.
    var redirectTime: Duration {
        metrics.count > 1 ? metrics[metrics.count - 2].ended ?? .zero : .zero
    }
}
