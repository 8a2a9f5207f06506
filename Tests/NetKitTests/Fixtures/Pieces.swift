import NetKit

/// A sequence of body pieces that counts the requests for a next one.
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

/// Returns bytes of the server's pattern: the letters from a to z, repeated.
func pattern(_ count: Int, from start: Int = 0) -> [UInt8] {
    var bytes = (0..<26).map { UInt8(ascii: "a") + UInt8((start + $0) % 26) }
    bytes.reserveCapacity(max(count, bytes.count))
    // Appends whole alphabets, so that each copy continues the previous one.
    while bytes.count < count {
        bytes.append(contentsOf: bytes.prefix(count - bytes.count))
    }
    return Array(bytes.prefix(count))
}

/// A list that any thread may append to and read.
final class Collected<Value: Sendable>: Sendable {
    private let storage = Lock<[Value]>([])

    var values: [Value] { storage.withLock { $0 } }

    func append(_ value: Value) {
        storage.withLock { $0.append(value) }
    }

    func removeAll() {
        // A deallocated value may call back into this list, so it is released outside the lock.
        let last = storage.withLock { values in
            defer { values = [] }
            return values
        }
        _ = last
    }
}
