extension Request {
    /// Checks status and type of a response. For a refused status, the error of the type is its
    /// ``NetError/underlying``.
    ///
    /// - Parameter types: the types of the decoding.
    func checkHead(_ received: Response<Bytes>, types: [String]?) throws(NetError) {
        let wanted = acceptedTypes ?? (expectation != nil ? MediaTypes.json : types)
        if let acceptedStatuses, !acceptedStatuses.contains(received.status) {
            throw NetError(unacceptable: received, underlying: received.typeError(wanted))
        }
        try received.checkType(wanted)
    }

    /// Does the same for a response whose body has not arrived.
    ///
    /// - Parameter types: the types that the stream's reader accepts, if the request sets none.
    package func checkHead(of stream: ResponseStream, types: [String]?) throws(NetError) {
        try checkHead(
            Response(status: stream.status, headers: stream.headers, metrics: stream.metrics), types: types)
    }

    /// Checks the expected JSON, if no transport has checked it.
    func checkBody(_ bytes: Bytes, of received: Response<Bytes>) throws(NetError) {
        guard let expectation, !bytes.isProven(expectation) else { return }
        do throws(NetError) {
            try expectation.check(bytes)
        } catch {
            throw received.blamingCharset(for: error).telling(received)
        }
    }

    /// Returns the more useful error: a wrong content type explains why a body is no JSON.
    func explained(_ error: NetError) -> NetError {
        guard error.code == .badJSON, let received = error.response else { return error }
        do throws(NetError) {
            try received.checkType(acceptedTypes ?? MediaTypes.json)
            return received.blamingCharset(for: error)
        } catch {
            return error
        }
    }
}
