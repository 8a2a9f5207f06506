/// What an agent has under way, and what an earlier run of the program has left, see ``Agent/adoptable(downloadsIn:)``.
public struct Adoptable: Sendable {
    /// What was started and is not over; ``Agent/adopt(_:)`` gives the hold on each.
    public var runs: [Run]
    /// What is on its way, whoever asked for it.
    public var transfers: [TransferInfo]
    /// Downloads that are not whole, of this run and of earlier ones; ``Agent/adoptDownloads(in:options:request:)`` goes
    /// on with those that nobody is at.
    public var partialDownloads: [PartialDownload]
}

extension Agent {
    /// What is under way now, and what lies in these folders of downloads that are not whole.
    public func adoptable(downloadsIn folders: [String] = []) async throws(NetError) -> Adoptable {
        var partial: [PartialDownload] = []
        for folder in folders {
            partial += try await partialDownloads(in: folder)
        }
        return Adoptable(runs: runs(), transfers: transfers(), partialDownloads: partial)
    }

    /// Takes over a start by its number, whoever holds its handle; nil when it is over, or is none of this agent's.
    public func adopt(_ id: Run.ID) -> AdoptedRun? {
        registry[id].map { AdoptedRun(control: $0) }
    }

    /// Takes over the downloads of a folder that are not whole and that nobody is at: each goes on at once, into the
    /// place that it was for, from what is there and is proven.
    ///
    /// Nothing of an earlier run is lost but its closures: who wants to hear of them says so here.
    /// - Parameters:
    ///   - folder: where their partial files lie.
    ///   - options: how they are fetched and checked.
    ///   - request: makes the request of each, for those that need fields of their own; nil leaves one out.
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
