#if Redis
internal import CNetCore
internal import CNetRedis
internal import NetKit

/// A reply of the server.
enum RedisReply: Sendable {
    case null
    case error(String)
    case integer(Int64)
    case bytes(Bytes)
    case array([RedisReply])

    /// The number, or `nil` for a reply of another type.
    var integer: Int64? {
        if case .integer(let number) = self { number } else { nil }
    }

    /// The bytes of a string or a status, or `nil` for a reply of another type.
    var bytes: Bytes? {
        if case .bytes(let bytes) = self { bytes } else { nil }
    }

    /// The items, or `nil` for a reply of another type.
    var items: [RedisReply]? {
        if case .array(let items) = self { items } else { nil }
    }

    /// Copies a reply of the C library.
    init(_ reply: nc_redis_reply) {
        switch unsafe reply.type {
        case .NC_REDIS_INTEGER: self = unsafe .integer(reply.integer)
        case .NC_REDIS_STRING, .NC_REDIS_STATUS: self = unsafe .bytes(Bytes(copying: reply.bytes))
        case .NC_REDIS_ERROR: self = unsafe .error(String(decoding: Bytes(copying: reply.bytes), as: UTF8.self))
        case .NC_REDIS_ARRAY:
            let items = unsafe UnsafeBufferPointer(start: reply.items, count: reply.count)
            self = .array(unsafe items.map { unsafe RedisReply($0) })
        default: self = .null
        }
    }
}

/// The words of a command in one piece of memory.
struct WordArena {
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    init(_ words: [Bytes]) {
        bytes.reserveCapacity(words.reduce(0) { $0 + $1.count })
        for word in words {
            word.withSpan { span in
                unsafe span.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
            }
            ends.append(bytes.count)
        }
    }

    /// Calls `body` with the words, which are valid during the call.
    @unsafe func withSlices<Result>(_ body: (UnsafeBufferPointer<nc_slice>) -> Result) -> Result {
        unsafe bytes.withUnsafeBufferPointer { buffer in
            var start = 0
            var slices = unsafe [nc_slice]()
            for end in ends {
                unsafe slices.append(
                    nc_slice(data: buffer.baseAddress.map { unsafe $0 + start }, length: end - start))
                start = end
            }
            return unsafe slices.withUnsafeBufferPointer { unsafe body($0) }
        }
    }
}

extension Bytes {
    /// Creates the UTF-8 bytes of a text.
    init(_ text: String) {
        self.init(Array(text.utf8))
    }

    init(copying slice: nc_slice) {
        self.init(unsafe Array(UnsafeBufferPointer(start: slice.data, count: slice.length)))
    }
}

extension Duration {
    /// Whole milliseconds for the C library, at least 1.
    var redisMilliseconds: UInt32 { UInt32(max(1, min(self / .milliseconds(1), 0x7FFF_FFFF))) }
}
#endif
