internal import CNetCore

/// A file of a store in memory, which its body shares.
@safe final class StoredBody: ByteStorage {
    // SAFETY: the buffer is filled before any other code sees this object, never changed later, and freed only by
    // deinit.
    private nonisolated(unsafe) var buffer: nc_buf
    private nonisolated(unsafe) var body: nc_slice

    /// Lets `fill` read into the buffer and return the part that is the body.
    init(_ fill: (inout nc_buf) -> nc_slice) {
        unsafe buffer = nc_buf_init(Int.max / 2)
        unsafe body = nc_slice()
        unsafe body = fill(&buffer)
    }

    deinit {
        unsafe nc_buf_deinit(&buffer)
    }

    var bodyCount: Int { unsafe body.length }

    func withBody<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe self.body.withSpan(body)
    }
}
