#if Redis
internal import NetKit

/// Writes numbers (little-endian) and pieces of bytes, each preceded by its length in four bytes.
struct ByteWriter {
    private var array: [UInt8] = []

    var bytes: Bytes { Bytes(array) }

    mutating func append(_ number: some FixedWidthInteger) {
        for shift in stride(from: 0, to: number.bitWidth, by: 8) {
            array.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    mutating func append(_ piece: Bytes) {
        append(UInt32(clamping: piece.count))
        array += [UInt8](piece)
    }

    mutating func append(_ text: String) {
        append(Bytes(text))
    }
}

/// Reads what a ``ByteWriter`` has written. The functions return `nil` if the bytes are too short.
struct ByteReader {
    private let array: [UInt8]
    private var offset = 0

    init(_ bytes: Bytes) {
        array = [UInt8](bytes)
    }

    var isAtEnd: Bool { offset == array.count }

    mutating func number<Number: FixedWidthInteger>() -> Number? {
        let width = Number.bitWidth / 8
        guard array.count - offset >= width else { return nil }
        defer { offset += width }
        return (0..<width).reduce(Number(0)) { $0 | Number(truncatingIfNeeded: array[offset + $1]) << ($1 * 8) }
    }

    mutating func piece() -> Bytes? {
        guard let count: UInt32 = number(), array.count - offset >= Int(count) else { return nil }
        defer { offset += Int(count) }
        return Bytes(Array(array[offset..<offset + Int(count)]))
    }

    mutating func text() -> String? {
        piece().map { String(decoding: $0, as: UTF8.self) }
    }
}
#endif
