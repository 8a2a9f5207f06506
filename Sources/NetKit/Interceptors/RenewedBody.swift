extension Request {
    /// Returns the request with a repeatable body, although its own can be read only once: the hook returns a new one
    /// each time. Observers are notified of each time after the first.
    func renewing(
        by ask: (@Sendable (Request<Bytes>, Int) async throws -> Body)?, _ watch: Watch?
    ) -> Request where Value == Bytes {
        guard let body, case .source(let source) = body.content, ask != nil || watch != nil else { return self }
        var request = self
        let asked = self
        let times = Lock(0)
        // Weak: an observer that keeps events would otherwise retain itself through the request in them.
        let count: @Sendable () -> Int = { [weak watch] in
            let number = times.withLock { times in
                times += 1
                return times
            }
            if number > 1 {
                watch?.tell(.bodyRenewed(number))
            }
            return number
        }
        let maker: BodySource.Maker =
            switch source.maker {
            case .reader(let make):
                .reader {
                    _ = count()
                    return try make()
                }
            case .pump(let pump):
                .pump { put in
                    let number = count()
                    guard number > 1, !source.isRepeatable, let ask else { return try await pump(put) }
                    try await ask(asked, number).pour(into: put)
                }
            }
        request.body?.content = .source(
            BodySource(
                length: source.length, isRepeatable: source.isRepeatable || ask != nil, maker: maker))
        return request
    }
}

extension Body {
    /// Passes the whole body to a function, piece by piece.
    fileprivate func pour(into put: BodySource.Put) async throws {
        switch content {
        case .bytes(let bytes):
            try await put(bytes)
        case .source(let source):
            switch source.maker {
            case .pump(let pump):
                try await pump(put)
            case .reader(let make):
                let read = try make()
                var buffer = [UInt8](repeating: 0, count: 64 << 10)
                while true {
                    var span = buffer.mutableSpan
                    let count = try BodySource.checked(read(&span), upTo: buffer.count)
                    if count == 0 {
                        return
                    }
                    try await put(Bytes(Array(buffer.prefix(count))))
                }
            }
        case .file, .multipart:
            throw NetError(.unsupported, "a body that is given anew is bytes or a stream")
        }
    }
}
