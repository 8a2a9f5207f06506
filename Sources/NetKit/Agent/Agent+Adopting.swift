/// The calls in flight of an agent, and the partial downloads of earlier processes; see
/// ``Agent/adoptable(downloadsIn:)``.
public struct Adoptable: Sendable {
    /// The request tasks that have not ended; ``Agent/adopt(_:)`` returns the control of each.
    public var runs: [Run]
    /// The transfers that have not ended, with and without a request task.
    public var transfers: [TransferInfo]
    /// The partial downloads of this process and earlier ones. ``Agent/adoptDownloads(in:options:request:)`` continues
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
        return Adoptable(runs: runs(), transfers: transfers(), partialDownloads: partial)
    }

    /// Returns the control of a request task by its number, independent of its handle. Returns `nil` if it has ended or
    /// belongs to another agent.
    public func adopt(_ id: Run.ID) -> AdoptedRun? {
        registry[id].map { AdoptedRun(control: $0) }
    }

    /// Continues all inactive partial downloads of a directory immediately, to their original destinations. Each one
    /// continues from the bytes of its last checkpoint.
    ///
    /// Everything of an earlier process is kept except its closures: add observers here.
    /// - Parameters:
    ///   - folder: the directory of the partial files.
    ///   - options: how the files are fetched and checked.
    ///   - request: creates the request of each download, for example to add fields; `nil` skips the download.
    public func adoptDownloads(
        in folder: String, options: DownloadOptions = DownloadOptions(),
        request: @Sendable (PartialDownload) -> Request<Bytes>? = { Request<Bytes>($0.url) }
    ) async throws(NetError) -> [(partial: PartialDownload, download: Download)] {
        var adopted: [(partial: PartialDownload, download: Download)] = []
        for partial in try await partialDownloads(in: folder) where !partial.isActive {
            if let request = request(partial) {
                adopted.append((partial, startDownload(request, resuming: partial.token, options: options)))
            }
        }
        return adopted
    }
}
