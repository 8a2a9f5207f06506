public import NetKit

extension Agent {
    /// Creates a call of a request or an endpoint. To start it, call `start()`.
    ///
    /// - Parameters:
    ///   - call: the request, or a value that creates one.
    ///   - delivery: the actor, queue or task on which the end is reported.
    ///   - options: the options of the start.
    ///   - delegate: the delegate, which is referenced weakly.
    ///   - completion: called at the end of the call, after the delegate.
    public func prepare<Call: RequestConvertible>(
        _ call: Call, on delivery: Delivery = .main, options: StartOptions = .init(),
        delegate: (any RequestTaskDelegate)? = nil,
        completion: @escaping @Sendable (Result<Response<Call.Value>, NetError>) -> Void
    ) -> PreparedCall<Call.Value> {
        prepare(call, on: delivery, options: options.adding(delegate, CompletionListener(completion)))
    }

    /// Creates a call of a request or an endpoint, whose end is reported to a delegate.
    public func prepare<Call: RequestConvertible>(
        _ call: Call, on delivery: Delivery = .main, options: StartOptions = .init(),
        delegate: (any RequestTaskDelegate)?
    ) -> PreparedCall<Call.Value> {
        let options = options.adding(delegate, nil as CompletionListener<Response<Call.Value>>?)
        return prepare(call, on: delivery, options: options)
    }

    /// Creates a call with any method. To start it, call `start()`.
    ///
    ///     agent.prepare(.patch, "cities/1", as: City.self).start()
    public func prepare<Value: Decodable & Sendable>(
        _ method: Method, _ path: some URLConvertible, as type: Value.Type, parameters: Parameters? = nil,
        headers: Headers = [:], body: Body? = nil, on delivery: Delivery = .main, options: StartOptions = .init(),
        completion: (@Sendable (Result<Response<Value>, NetError>) -> Void)? = nil
    ) -> PreparedCall<Value> {
        let request = Request<Value>(path, method: method, parameters: parameters, headers: headers, body: body)
        return prepare(request, on: delivery, options: options.adding(nil, completion.map(CompletionListener.init)))
    }

    /// Creates a call with any method whose value is a JSON tree. To start it, call `start()`.
    public func prepare(
        _ method: Method, _ path: some URLConvertible, parameters: Parameters? = nil, headers: Headers = [:],
        body: Body? = nil, on delivery: Delivery = .main, options: StartOptions = .init(),
        completion: (@Sendable (Result<Response<JSONValue?>, NetError>) -> Void)? = nil
    ) -> PreparedCall<JSONValue?> {
        let request = Request<JSONValue?>(path, method: method, parameters: parameters, headers: headers, body: body)
        return prepare(request, on: delivery, options: options.adding(nil, completion.map(CompletionListener.init)))
    }

    /// Cancels all started requests with this method and this path or URL. Queries are ignored.
    ///
    /// To cancel requests with any method, call ``cancel(path:method:)``.
    /// - Returns: the number of requests that were cancelled before they ended.
    @discardableResult
    public func cancelAll(method: Method, path: String) -> Int {
        cancel(path: path, method: method)
    }
}

/// The calls in flight of an agent, and the partial downloads of earlier processes; see
/// `Agent.adoptable(downloadsIn:)`.
public struct Adoptable: Sendable {
    /// The request tasks that have not ended; `Agent.handle(of:)` returns the handle of each.
    public var requestTasks: [RequestTask]
    /// The transfers that have not ended, including those that do not belong to a request task.
    public var transfers: [TransferInfo]
    /// The partial downloads of this process and earlier ones. `Agent.adoptDownloads(in:options:request:)` continues
    /// the inactive ones.
    public var partialDownloads: [PartialDownload]
}

extension Agent {
    /// Returns the calls in flight and the partial downloads in these directories.
    public func adoptable(downloadsIn folders: [String] = []) async throws(NetError) -> Adoptable {
        var partial: [PartialDownload] = []
        for folder in folders {
            partial += try await partialDownloads(in: folder)
        }
        return Adoptable(requestTasks: requestTasks(), transfers: transfers(), partialDownloads: partial)
    }

    /// Starts all inactive partial downloads of a directory again, each to its original destination. Each download
    /// continues after the bytes of its last checkpoint.
    ///
    /// Closures of an earlier process are lost. Add listeners and observers in `request`.
    /// - Parameters:
    ///   - folder: the directory of the partial files.
    ///   - options: how the files are fetched and checked.
    ///   - request: creates the request of each download, for example to add fields; `nil` skips the download.
    public func adoptDownloads(
        in folder: String, options: DownloadOptions = DownloadOptions(),
        request: @Sendable (PartialDownload) -> Request<Bytes>? = { Request<Bytes>($0.url) }
    ) async throws(NetError) -> [(partial: PartialDownload, download: CallHandle<Response<DownloadedFile>>)] {
        var adopted: [(partial: PartialDownload, download: CallHandle<Response<DownloadedFile>>)] = []
        for partial in try await partialDownloads(in: folder) where !partial.isActive {
            if let request = request(partial) {
                let download = Download(request, resuming: partial.token, options: options)
                adopted.append((partial, start(download, on: .here)))
            }
        }
        return adopted
    }
}
