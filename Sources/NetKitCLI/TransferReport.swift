import NetKit

/// The result of one URL, from which the exit code and the output of -w and --timing are created.
struct TransferReport: Sendable {
    let job: Job
    var method = Method.get
    var status = 0
    var headers: Headers = [:]
    var metrics = Metrics()
    /// The number of body bytes of the last request that were sent. It is updated during the transfer.
    let sent = Lock(0)
    /// The path of the file with the body, if it is written to a file.
    var fileName: String?
    var exitCode = ExitCode.success
    /// The error message. `nil` after a success, or if the reader of a pipe has closed it.
    var message: String?

    init(_ job: Job) {
        self.job = job
    }

    var uploadedBytes: Int { sent.withLock { $0 } }

    /// The URL of the last hop or, if there is none, the requested URL.
    var url: String { metrics.last?.url ?? URLText(job.url).withoutLogin }

    /// The target of a redirect that was not followed, without a name and password.
    var redirectURL: String? {
        guard (300...399).contains(status), let location = headers.reference("Location"), !location.isEmpty else {
            return nil
        }
        return (try? resolveReference(location, at: url)).map { URLText($0).withoutLogin }
    }

    /// The method of the last hop. A redirect may have changed it.
    var lastMethod: Method {
        metrics.dropLast().reduce(method) { Verbose.methodAfter($1.status, $0) }
    }

    /// The Last-Modified time, in seconds since 1970.
    var modified: Int64? { headers["Last-Modified"].flatMap(HTTPDate.epochSeconds) }

    var elapsed: Duration { metrics.last?.ended ?? .zero }

    /// Returns the sum of the times from the start of each hop to an event in it, as curl computes it. An event that
    /// did not happen counts as 0.
    func sum(to time: (HopMetrics) -> Duration?) -> Duration {
        var begin = Duration.zero
        var sum = Duration.zero
        for hop in metrics {
            sum += max(.zero, (time(hop) ?? begin) - begin)
            begin = hop.ended ?? begin
        }
        return sum
    }

    /// The total duration of all hops except the last one.
    var redirectTime: Duration {
        metrics.count > 1 ? metrics[metrics.count - 2].ended ?? .zero : .zero
    }
}
