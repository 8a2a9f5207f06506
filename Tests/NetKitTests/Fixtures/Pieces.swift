import NetKit

/// A sequence of bodies' pieces that counts what was asked of it.
struct Pieces<Element: Sendable>: AsyncSequence, Sendable {
    let make: @Sendable (Int) async throws -> Element?
    let asked = Counter()

    init(_ make: @escaping @Sendable (Int) async throws -> Element?) {
        self.make = make
    }

    init(_ elements: [Element]) {
        self.init { elements.indices.contains($0) ? elements[$0] : nil }
    }

    func makeAsyncIterator() -> Iterator { Iterator(pieces: self) }

    struct Iterator: AsyncIteratorProtocol {
        let pieces: Pieces
        var next = 0

        mutating func next() async throws -> Element? {
            defer { next += 1 }
            pieces.asked.increment()
            return try await pieces.make(next)
        }
    }
}

/// What the server's pattern is: the letters from a to z, over and over.
func pattern(_ count: Int, from start: Int = 0) -> [UInt8] {
    var bytes = (0..<26).map { UInt8(ascii: "a") + UInt8((start + $0) % 26) }
    bytes.reserveCapacity(max(count, bytes.count))
    // Whole alphabets, so that each copy goes on where the one before it ends.
    while bytes.count < count {
        bytes.append(contentsOf: bytes.prefix(count - bytes.count))
    }
    return Array(bytes.prefix(count))
}

/// What any thread may add to and read.
final class Collected<Value: Sendable>: Sendable {
    private let storage = Lock<[Value]>([])

    var values: [Value] { storage.withLock { $0 } }

    func append(_ value: Value) {
        storage.withLock { $0.append(value) }
    }

    func removeAll() {
        // What is let go of may come back here.
        let last = storage.withLock { values in
            defer { values = [] }
            return values
        }
        _ = last
    }
}
