// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import HTTPTypes

public import struct FoundationEssentials.URL

/// Declares the part of swift-openapi-runtime that the adapter uses.
public enum IterationBehavior: Sendable { case single, multiple }

/// Declares the part of swift-openapi-runtime that the adapter uses.
public final class HTTPBody: Sendable, AsyncSequence {
    public typealias ByteChunk = ArraySlice<UInt8>
    public typealias Element = ByteChunk

    public enum Length: Sendable { case unknown, known(Int64) }

    public struct Iterator: AsyncIteratorProtocol {
        public mutating func next() async throws -> ByteChunk? { nil }
    }

    public let length: Length
    public let iterationBehavior: IterationBehavior

    public init<Pieces: AsyncSequence & Sendable>(
        _ sequence: Pieces, length: Length, iterationBehavior: IterationBehavior
    ) where Pieces.Element == ByteChunk {
        self.length = length
        self.iterationBehavior = iterationBehavior
    }

    public func makeAsyncIterator() -> Iterator { Iterator() }
}

/// Declares the part of swift-openapi-runtime that the adapter uses.
public protocol ClientTransport: Sendable {
    func send(
        _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
    ) async throws -> (HTTPResponse, HTTPBody?)
}
