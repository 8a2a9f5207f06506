import NetKit

/// The result of one URL: the data for -w, --timing and the exit code.
struct Account: Sendable {
    let job: Job
    var method = Method.get
    var status = 0
    var headers: Headers = [:]
    var metrics = Metrics()
    /// The body bytes of the last request that were sent, updated during the transfer.
    let sent = Lock(0)
    /// The path of the body, if it is in a file.
    var fileName: String?
    var exitCode = ExitCode.success
    /// The error message. `nil` after a success, or if there is no reader for it.
    var message: String?

    init(_ job: Job) {
        self.job = job
    }

    var uploadedBytes: Int { sent.withLock { $0 } }

    /// The URL of the last hop, or the requested one.
    var url: String { metrics.last?.url ?? WrittenURL(job.url).withoutLogin }

    /// The target of a redirect that was not followed, without a name and password.
    var redirectURL: String? {
        guard (300...399).contains(status), let place = headers.reference("Location"), !place.isEmpty else {
            return nil
        }
        return (try? resolveReference(place, at: url)).map { WrittenURL($0).withoutLogin }
    }

    /// The method of the last hop. A redirect may have changed it.
    var lastMethod: Method {
        metrics.dropLast().reduce(method) { Verbose.methodAfter($1.status, $0) }
    }

    /// The Last-Modified time, in seconds since 1970.
    var modified: Int64? { headers["Last-Modified"].flatMap(HTTPDate.epochSeconds) }

    var took: Duration { metrics.last?.ended ?? .zero }

    /// The sum of the times up to a moment in each hop, as curl computes them.
    func sum(to moment: (HopMetrics) -> Duration?) -> Duration {
        var begin = Duration.zero
        var sum = Duration.zero
        for hop in metrics {
            sum += max(.zero, (moment(hop) ?? begin) - begin)
            begin = hop.ended ?? begin
        }
        return sum
    }

    /// The duration of all hops before the last one.
    var redirectTime: Duration {
        metrics.count > 1 ? metrics[metrics.count - 2].ended ?? .zero : .zero
    }
}
