internal import CNetCore

/// A file of a store, read whole: the memory that its body stays in.
@safe final class StoredBody: ByteStorage {
    // SAFETY: the buffer is filled before anybody else sees this object, never changed afterwards, and given up by
    // deinit alone.
    private nonisolated(unsafe) var buffer: nc_buf
    private nonisolated(unsafe) var body: nc_slice

    /// Lets `fill` read into the buffer and tell which part of it is the body.
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
