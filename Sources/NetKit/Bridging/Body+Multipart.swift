extension Body {
    /// Returns a multipart form as a body. Its Content-Type contains the boundary and overrides the request's own.
    ///
    /// It can be sent with any method except GET and HEAD (``NetError/Code/usage``).
    /// - Throws: ``NetError/Code/badPart`` for a type, a field or a boundary that cannot be sent (the offset is the
    ///   byte), ``NetError/Code/badParameter``, and ``NetError/Code/file`` for a file that cannot be read now. If a
    ///   file's length changes while it is sent, the request ends with ``NetError/Code/bodyLength``.
    public static func multipart(_ form: MultipartBody) throws(NetError) -> Body {
        let checked = try CheckedForm(form)
        return Body(.multipart(checked), contentType: checked.contentType)
    }
}

extension Body {
    /// Returns the number of bytes of a form, with files measured now. Returns `nil` if a part's length is unknown, and
    /// for a body that is no form.
    ///
    /// - Throws: ``NetError/Code/file`` for a file that cannot be read.
    public func measureForm() throws(NetError) -> Int? {
        try checkedForm?.measuredLength()
    }
}

extension MultipartBody {
    /// Writes the whole form to a file. The file appears when it is complete and synced, and replaces an existing one.
    ///
    /// - Returns: the form's Content-Type, for the request that sends the file.
    /// - Throws: the errors of ``Body/multipart(_:)`` and ``Body/forEachPiece(_:)``, and ``NetError/Code/file`` with
    ///   errno: ESPIPE for a device, a pipe or a socket.
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
