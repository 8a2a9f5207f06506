#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// The ways to receive the response to a call: decoded, in a file, as a stream, or with any kind of body.

extension Agent {
    func sendThroughChain<Value>(_ request: Request<Value>) async throws(NetError) -> Response<Value> {
        if request.isListed {
            return try await sendListed(request)
        }
        if let target = request.downloadTarget {
            return try await downloadThroughChain(request, to: target)
        }
        if request.output != nil {
            return try await sendResumably(request, nil)
        }
        return try await runObserved(request, .send) { call async throws(NetError) in
            try await self.decodedAndStored(try await self.wholeResponse(to: call), by: request)
        }
    }

    // Not inlined: few requests are downloads.
    @inline(never)
    private func downloadThroughChain<Value>(
        _ request: Request<Value>, to target: DownloadTarget
    ) async throws(NetError) -> Response<Value> {
        let file = try await download(request, to: target)
        guard let value = file.value as? Value else {
            throw NetError(.internal, "a download has a value of another type")
        }
        return file.map { _ in value }
    }

    func saveThroughChain(
        _ request: Request<some Sendable>, to path: String
    ) async throws(NetError) -> Response<DownloadedFile> {
        try await runObserved(request, .save, savingTo: path) { call async throws(NetError) in
            let response = try await self.chainResponse(to: call)
            let received = response.response
            if call.request.download != nil, case .file(let file) = response.body {
                return (received.map { _ in file }, received)
            }
            guard (200..<300).contains(received.status) else {
                throw NetError(unacceptable: self.withJSONSettings(received, of: request))
            }
            try call.request.checkHead(received, types: nil)
            if case .file(let file) = response.body {
                return (received.map { _ in file }, received)
            }
            let bytes = try await response.collected(upTo: call.request.limits.maxBodyBytes)
            try call.request.checkBody(bytes, of: received)
            try await withTaskExecutorPreference(DiskExecutor()) { () async throws(NetError) in
                try await Self.write(bytes, to: path)
            }
            return (received.map { _ in DownloadedFile(path: path, byteCount: bytes.count) }, received)
        }
    }

    func streamThroughChain(
        _ request: Request<some Sendable>, isChecked: Bool
    ) async throws(NetError) -> ResponseStream {
        if request.isListed {
            return try await streamListed(request, isChecked: isChecked)
        }
        let (stream, _, watch) = try await runToResponse(request, .stream) { call async throws(NetError) in
            var stream = try await self.openStream(for: call)
            if isChecked {
                stream = try await call.request.checked(stream)
            }
            return (stream, stream.headOnly)
        }
        return watch.map { stream.replaced(by: ObservedChunks(stream, watch: $0)) } ?? stream
    }

    /// Sends a request and returns the response with any kind of body.
    func openedThroughChain(_ request: Request<some Sendable>) async throws(NetError) -> ChainResponse {
        if request.isListed {
            return try await openListed(request)
        }
        let (response, received, watch) = try await runToResponse(request, .send) { call async throws(NetError) in
            let response = try await self.checkedAndStored(try await self.chainResponse(to: call), by: call.request)
            return (response, response.response)
        }
        if let watch, case .stream(let stream) = response.body {
            return ChainResponse(stream.replaced(by: ObservedChunks(stream, watch: watch)))
        }
        await watch?.reportStopping(.answered(received))
        watch?.reportStopped()
        return response
    }

    // MARK: Responses for each kind of body

    func chainResponse(to call: Call) async throws(NetError) -> ChainResponse {
        defer { call.request.progress?(.over) }
        try Self.checkCancellation()
        return try await Next(chain(for: call.request))(call)
    }

    func wholeResponse(to call: Call) async throws(NetError) -> Response<Bytes> {
        let chainResponse = try await chainResponse(to: call)
        switch chainResponse.body {
        case .bytes: return chainResponse.response
        // TransferHooks.head may have chosen a file for the body.
        case .file where chain(for: call.request).hooks.head != nil:
            return chainResponse.response
        case .file, .stream: break
        }
        var response = chainResponse.response
        response.bytes = try await chainResponse.collected(upTo: call.request.limits.maxBodyBytes)
        response.value = response.bytes
        return response
    }

    private func openStream(for call: Call) async throws(NetError) -> ResponseStream {
        let chainResponse: ChainResponse
        do throws(NetError) {
            try Self.checkCancellation()
            chainResponse = try await Next(chain(for: call.request))(call)
        } catch {
            call.request.progress?(.over)
            throw error
        }
        if case .stream(let stream) = chainResponse.body {
            if control == nil {
                call.request.progress?(.over)
            }
            return stream
        }
        call.request.progress?(.over)
        var response = chainResponse.response
        // As in wholeResponse(to:): TransferHooks.head may have chosen a file for the body.
        if case .file = chainResponse.body, chain(for: call.request).hooks.head != nil {
            return ResponseStream(response)
        }
        response.bytes = try await chainResponse.collected(upTo: call.request.limits.maxBodyBytes)
        try call.request.checkBody(response.bytes, of: response)
        return ResponseStream(response)
    }

    @concurrent
    private static func write(_ bytes: Bytes, to path: String) async throws(NetError) {
        do {
            try bytes.data.write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw NetError(.file, "cannot write the body to '\(path)': \(error)", underlying: error)
        }
    }
}

extension ChainResponse {
    /// Returns the whole body; throws if it is in a file.
    @inline(never)
    fileprivate func collected(upTo maxBytes: Int?) async throws(NetError) -> Bytes {
        switch body {
        case .bytes(let bytes): return bytes
        case .stream(let stream): return try await stream.collect(upTo: maxBytes ?? .max)
        case .file:
            throw NetError(
                .usage, "an interceptor returned a file as the body of a request that is not saved to a file")
        }
    }
}

extension Agent {
    /// The largest body, in bytes, that is decoded on the caller's thread. For such a body a thread switch takes longer
    /// than decoding.
    private static let inlineDecodingBytes = 16 << 10

    /// Decodes a response. A large body is decoded on the global executor, so that it does not block the caller's actor
    /// or an event loop.
    func decode<Value>(
        _ received: Response<Bytes>, by decoding: Decoding<Value>
    ) async throws(NetError) -> Response<Value> {
        if received.bytes.count <= Self.inlineDecodingBytes {
            do {
                return received.replacingValue(by: try decoding.decode(received))
            } catch {
                throw NetError(decoding: error, to: Value.self, from: received)
            }
        }
        let outcome = await withTaskExecutorPreference(globalConcurrentExecutor) {
            await Self.decodeOffTheLoop(received, by: decoding)
        }
        switch outcome {
        case .success(let value):
            return received.replacingValue(by: value)
        case .failure(let error):
            throw NetError(decoding: error, to: Value.self, from: received)
        }
    }

    @concurrent
    private static func decodeOffTheLoop<Value>(
        _ received: Response<Bytes>, by decoding: Decoding<Value>
    ) async -> Result<Value, any Error> {
        Result { try decoding.decode(received) }
    }
}
