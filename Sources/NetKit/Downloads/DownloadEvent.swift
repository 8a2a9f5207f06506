/// What happens to a download.
public enum DownloadEvent: Sendable {
    /// A head is taken for the file's; another one may follow when it begins anew.
    case head(ResponseHead)
    /// It was tried to resume: it goes on from `offset`, or from 0 when it begins anew.
    case resumed(offset: Int, total: Int?)
    /// Something moved; at most ten times a second, and once at the end.
    case progress(DownloadProgress)
}
