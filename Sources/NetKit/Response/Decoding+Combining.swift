extension Decoding {
    /// Returns a decoding that passes the decoded value through `transform`.
    public func map<Other>(_ transform: @escaping @Sendable (Value) throws -> Other) -> Decoding<Other> {
        let decode = decode
        return Decoding<Other>(types: types) { try transform(try decode($0)) }
    }

    /// Returns a decoding that tries these decodings in order and returns the first value. A decoding is tried only if
    /// it accepts the content type.
    ///
    ///     let either = Decoding<Answer>.first(of: [.json, Decoding<String>.text.map { Answer(text: $0) }])
    ///
    /// If all fail, it throws ``NetError/Code/decoding`` with a message about each. ``NetError/underlying`` is then
    /// the error of the first decoding that was tried. If `decodings` is empty, it throws ``NetError/Code/usage``.
    public static func first(of decodings: [Decoding]) -> Decoding {
        let types = decodings.map(\.types)
        let all = types.contains { $0 == nil } || types.isEmpty ? nil : types.compactMap(\.self).flatMap(\.self)
        return Decoding(types: all) { response in
            var failures: [NetError] = []
            var firstDecodingError: NetError?
            for decoding in decodings {
                do throws(NetError) {
                    try response.checkType(decoding.types)
                } catch {
                    failures.append(error)
                    continue
                }
                do throws(NetError) {
                    return try response.decode(by: decoding)
                } catch {
                    failures.append(error)
                    firstDecodingError = firstDecodingError ?? error
                }
            }
            guard let failure = firstDecodingError ?? failures.first else {
                throw NetError(.usage, "the list of decodings is empty")
            }
            let all = failures.map(\.message).joined(separator: "; ")
            throw NetError(
                .decoding, "none of \(failures.count) decodings could decode the body: \(all)", underlying: failure)
        }
    }
}
