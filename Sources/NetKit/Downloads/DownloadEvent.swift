/// An event of a download.
public enum DownloadEvent: Sendable {
    /// A response head of the file arrived. Another one may follow if the download restarts.
    case head(ResponseHead)
    /// An attempt to resume had a result: the download continues at `offset`, or at 0 if it restarts.
    case resumed(offset: Int, total: Int?)
    /// The progress changed. Reported at most ten times a second, and once at the end.
    case progress(DownloadProgress)
}
