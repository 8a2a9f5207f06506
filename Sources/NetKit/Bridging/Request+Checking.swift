internal import CNetCore

extension Request where Value == Bytes {
    /// Checks what the engine would refuse at submission, so that other transports refuse the same.
    package func checkAsEngine() throws(NetError) {
        try checkBeforeSubmit()
        var error = nc_error()
        let form = try body?.coreForm(feed: nil)
        let status = unsafe withDescription(trust: nil, feed: nil) { description in
            if case .source = body?.content {
                unsafe description.body_source.pull = neverPulled
            }
            unsafe description.multipart = form?.raw
            return unsafe nc_request_check(&description, &error)
        }
        if status != .NC_OK {
            throw NetError(error)
        }
    }

    /// Checks for values that the core would misinterpret.
    func checkBeforeSubmit() throws(NetError) {
        let kept = kept
        if kept.value.method.rawValue.isEmpty {
            throw NetError(.badMethod, "the method is empty", offset: 0)
        }
        if let rare = kept.value.rare, rare.value.unixSocket == "" || rare.value.savePath == "" {
            throw NetError(.usage, "a path is empty")
        }
        switch kept.value.body?.content {
        case .file(""): throw NetError(.usage, "the path of the body's file is empty")
        case .source(let source): try source.checkLength()
        default: break
        }
    }
}

/// Marks the presence of a source; a check never pulls from it.
private func neverPulled(
    _ context: UnsafeMutableRawPointer?, _ id: UInt64, _ bytes: UnsafeMutablePointer<UInt8>, _ capacity: Int,
    _ filled: UnsafeMutablePointer<Int>
) -> nc_pull {
    .NC_PULL_FAIL
}
