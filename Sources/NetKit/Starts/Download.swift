#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request whose body is written to a file. It is sent like any other request: it can be started, be a member of a
/// ``Batch`` or a step of a ``Chain``, and it is listed and cancelled by its tag.
///
///     let file = try await agent.send(Download(film, to: "/data/films/")).value
///     let handle = agent.start(Download(film, to: "/data/film.mkv"), on: .here)
///     try await agent.send(Batch([first, second].map { Download($0, to: "/data/") }))
///
/// The interceptors, the checks, the tag, the listeners and the progress handler of the request apply. The listeners
/// receive the outcome when the file is at its destination. Those that need the decoded value receive the value that is
/// decoded from the file (``TaskListener/needsDecodedValue``).
///
/// ``Agent/download(_:to:options:destination:)`` describes the destination and the errors.
public struct Download<Source: RequestConvertible>: Startable {
    /// The file that was written.
    public typealias Value = DownloadedFile

    let source: Source
    private let target: Result<DownloadTarget, NetError>

    /// Creates a download to a file, or to a directory if the path names one.
    ///
    /// - Parameters:
    ///   - source: the request, or a value that creates one.
    ///   - path: the path of the file, or of a directory for it: a `String` or a `URL`.
    ///   - options: how the file is fetched and checked.
    ///   - destination: chooses the destination from the response head. If it is or returns `nil`, `path` applies.
    public init(
        _ source: Source, to path: some URLConvertible, options: DownloadOptions = DownloadOptions(),
        destination: DownloadDestination? = nil
    ) {
        self.source = source
        guard let path = path.path else {
            target = .failure(NetError(.usage, "the destination of the download is not the URL of a file"))
            return
        }
        target = .success(DownloadTarget(path: path, options: options, destination: destination, token: nil))
    }

    /// Creates a download that continues the one that a resume token belongs to, to its original destination.
    public init(
        _ source: Source, resuming token: ResumeToken, options: DownloadOptions = DownloadOptions(),
        destination: DownloadDestination? = nil
    ) {
        self.source = source
        var options = options
        options.partialFolder = token.folder
        target = .success(
            DownloadTarget(path: token.path, options: options, destination: destination, token: token))
    }

    /// The tag of the request.
    public var tag: Int { source.tag }
    /// The caller's values for the request.
    public var userInfo: [String: any Sendable] { (source as? any Startable)?.userInfo ?? [:] }
    /// The listeners of the request's tasks, except those that need the decoded value. ``request()`` adds these.
    public var listeners: [any TaskListener] { sourceListeners.filter { !$0.needsDecodedValue } }

    private var sourceListeners: [any TaskListener] { (source as? any Startable)?.listeners ?? [] }

    /// Creates the request of one download.
    public func request() async throws(NetError) -> Request<DownloadedFile> {
        let target = try target.get()
        var original = try await source.taskRequest()
        if let token = target.token {
            original = original.resuming(token)
        }
        let own = source is Request<Source.Value> ? [] : original.listeners
        original.removeListeners()
        let added = (sourceListeners.filter(\.needsDecodedValue) + own)
            .decoding { [original] (file: Response<DownloadedFile>) async throws(NetError) in
                try await file.decoded(from: file.value, by: original)
            }
        var request = original.decoded(by: .file)
        if !added.isEmpty {
            request.listeners = added
        }
        request.downloadTarget = target
        return request
    }
}

extension Download: SourcedRequest {
    static var sourceType: any RequestConvertible.Type { Source.self }
}

/// The destination and the options of a download.
struct DownloadTarget: Sendable {
    let path: String
    let options: DownloadOptions
    let destination: DownloadDestination?
    let token: ResumeToken?
}

extension Request {
    /// The destination of the body; `nil` if the request is not a ``Download``.
    var downloadTarget: DownloadTarget? {
        get { callSettings?.value.downloadTarget }
        set { settings.downloadTarget = newValue }
    }
}

extension Decoding where Value == DownloadedFile {
    /// The decoding of a ``Download``, whose body is in a file.
    fileprivate static var file: Decoding {
        Decoding { _ in throw NetError(.usage, "the request of a download must be sent by an agent") }
    }
}

extension Response where Value == DownloadedFile {
    /// Reads a file and decodes it as the body of a response to this request, for the listeners that need the value.
    func decoded<Other>(
        from file: DownloadedFile, by request: Request<Other>
    ) async throws(NetError) -> Response<Other> {
        var whole = map { _ in Bytes() }
        if Other.self != Void.self {
            let limit = request.limits.maxBodyBytes ?? Self.maxDecodedBytes
            whole.bytes = try await withTaskExecutorPreference(DiskExecutor()) { () async throws(NetError) in
                try await Self.bytes(of: file, upTo: limit)
            }
            whole.value = whole.bytes
        }
        do {
            return whole.replacingValue(by: try request.decoding.decode(whole))
        } catch {
            throw NetError(decoding: error, to: Other.self, from: whole)
        }
    }

    /// The largest file that is decoded for listeners, if the request has no limit.
    private static var maxDecodedBytes: Int { 64 << 20 }

    @concurrent
    private static func bytes(of file: DownloadedFile, upTo limit: Int) async throws(NetError) -> Bytes {
        if file.byteCount > limit {
            throw NetError(
                .bodyTooLarge,
                "the listeners need the value, and the file is larger than \(limit) bytes (limits.maxBodyBytes)")
        }
        do {
            return Bytes(try Data(contentsOf: URL(filePath: file.path)))
        } catch {
            throw NetError(.file, "cannot read the downloaded file '\(file.path)': \(error)", underlying: error)
        }
    }
}
