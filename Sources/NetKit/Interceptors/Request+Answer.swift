extension Request {
    /// Whether a response is an answer. A status that will not do is the error, with that of the type beneath it.
    ///
    /// - Parameter types: those of the decoding.
    func checkHead(_ received: Response<Bytes>, types: [String]?) throws(NetError) {
        let wanted = acceptedTypes ?? (expectation != nil ? MediaTypes.json : types)
        if let acceptedStatuses, !acceptedStatuses.contains(received.status) {
            throw NetError(unacceptable: received, underlying: received.typeError(wanted))
        }
        try received.checkType(wanted)
    }

    /// The same for a response whose body is still to come.
    ///
    /// - Parameter types: those that whoever reads the stream wants, where the request does not say.
    package func checkHead(of stream: ResponseStream, types: [String]?) throws(NetError) {
        try checkHead(
            Response(status: stream.status, headers: stream.headers, metrics: stream.metrics), types: types)
    }

    /// Whether the body is what was expected, where no transport has seen to it.
    func checkBody(_ bytes: Bytes, of received: Response<Bytes>) throws(NetError) {
        guard let expectation, !bytes.isProven(expectation) else { return }
        do throws(NetError) {
            try expectation.check(bytes)
        } catch {
            throw received.blamingCharset(for: error).telling(received)
        }
    }

    /// That a body is no JSON says less than that it is of another type.
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
