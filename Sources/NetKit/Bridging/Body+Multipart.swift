extension Body {
    /// A form of several parts. Its Content-Type names the boundary, and wins over the request's own.
    ///
    /// It can be sent with any method but GET and HEAD, which carry no form (``NetError/Code/usage``).
    /// Throws ``NetError/Code/badPart`` for a type, a field or a boundary that cannot be sent (the offset is the byte),
    /// ``NetError/Code/badParameter``, and ``NetError/Code/file`` for a file that cannot be read now. A file that has
    /// another length when it is sent than when that began ends the request with ``NetError/Code/bodyLength``.
    public static func multipart(_ form: MultipartBody) throws(NetError) -> Body {
        let checked = try CheckedForm(form)
        return Body(.multipart(checked), contentType: checked.contentType)
    }
}

extension Body {
    /// The number of bytes that a form has, its files measured now; nil when a part does not know its own, and for
    /// bodies that are no form.
    ///
    /// Throws ``NetError/Code/file`` for a file that cannot be read.
    public func measureForm() throws(NetError) -> Int? {
        try checkedForm?.measuredLength()
    }
}

extension MultipartBody {
    /// Writes the whole form to a file, which appears whole and synced or not at all; one that is there is replaced.
    ///
    /// Returns the form's Content-Type, for the request that will send the file. Throws what ``Body/multipart(_:)`` and
    /// ``Body/forEachPiece(_:)`` throw, and ``NetError/Code/file`` with errno: ESPIPE for a device, a pipe or a socket.
    @discardableResult
    public func write(toFile path: String) async throws(NetError) -> String {
        let body = try Body.multipart(self)
        try await withTaskExecutorPreference(DiskExecutor()) { () async throws(NetError) in
            try await Self.write(body, toFile: path)
        }
        return body.contentType ?? ""
    }

    @concurrent
    private static func write(_ body: Body, toFile path: String) async throws(NetError) {
        let file = try WholeFile(path)
        try await body.forEachPiece { piece throws(NetError) in try file.write(piece) }
        try file.keep()
    }
}
