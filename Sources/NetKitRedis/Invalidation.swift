#if Redis
public import NetKit

/// A change that a store announces to the memory of other processes.
enum Invalidation: UInt8 {
    case key, tag, host, all
}

extension RedisCacheStore {
    /// Returns the message of a change: the sender and the sealed kind and name.
    func message(_ kind: Invalidation, _ name: Bytes) throws(NetError) -> Bytes {
        sender + (try client.seal.closed(Bytes([kind.rawValue]) + name, Bytes("message")))
    }

    /// Returns a store that looks into `first` before the server. When another process replaces or removes an entry,
    /// `first` drops it.
    ///
    /// Redis does not keep messages. When the connection is lost and when it is made again, `first` drops all entries.
    /// A message takes a moment, in which `first` may still return the old entry. The announcements end when this
    /// `RedisCacheStore` is released.
    ///
    /// - Parameter first: a store of this process only.
    public func twoTier(with first: any CacheStore = MemoryCacheStore()) throws(NetError) -> TwoTierCacheStore {
        let store = TwoTierCacheStore(first: first, second: self)
        let listener = try InvalidationListener(store.invalidator, sender: sender, client)
        subscriptions.withLock { $0.append(listener) }
        return store
    }
}

/// Applies the announcements of other stores to one store, in their order.
final class InvalidationListener: Sendable {
    private enum Change: Sendable {
        case message(Bytes)
        case gap
    }

    /// The number of announcements that may wait. If there are more, the store is emptied instead.
    private static let maximumWaiting = 4096

    private let subscription: RedisSubscription
    private let task: Task<Void, Never>

    init(_ invalidate: TwoTierCacheStore.Invalidator, sender: Bytes, _ client: RedisClient) throws(NetError) {
        let (changes, continuation) = AsyncStream.makeStream(
            of: Change.self, bufferingPolicy: .bufferingOldest(Self.maximumWaiting))
        let overflowed = Lock(false)
        let add: @Sendable (Change) -> Void = { change in
            if case .dropped = continuation.yield(change) {
                overflowed.withLock { $0 = true }
            }
        }
        let seal = client.seal
        task = Task {
            for await change in changes {
                let hasOverflowed = overflowed.withLock { overflowed in
                    defer { overflowed = false }
                    return overflowed
                }
                guard case .message(let message) = change, !hasOverflowed else {
                    await invalidate { first throws(NetError) in try await first.removeAll(.all) }
                    continue
                }
                await Self.apply(message, invalidate, sender: sender, seal)
            }
        }
        do throws(NetError) {
            subscription = try client.subscribe("c") { message in
                add(.message(message))
            } onChange: { _ in
                add(.gap)
            }
        } catch {
            task.cancel()
            throw error
        }
    }

    deinit {
        task.cancel()
    }

    private static func apply(
        _ message: Bytes, _ invalidate: TwoTierCacheStore.Invalidator, sender: Bytes, _ seal: Seal
    ) async {
        if Bytes(Array(message.prefix(sender.count))) == sender {
            return
        }
        let content = seal.opened(Bytes(Array(message.dropFirst(sender.count))), Bytes("message"))
        // A message that cannot be read may stand for anything.
        guard let content, let kind = content.first.flatMap({ Invalidation(rawValue: $0) }) else {
            return await invalidate { first throws(NetError) in try await first.removeAll(.all) }
        }
        let name = Array(content.dropFirst())
        await invalidate { first throws(NetError) in
            switch kind {
            case .key: try await first.remove(CacheKey(description: name))
            case .tag: try await first.removeAll(.tagged(String(decoding: name, as: UTF8.self)))
            case .host: try await first.removeAll(.host(String(decoding: name, as: UTF8.self)))
            case .all: try await first.removeAll(.all)
            }
        }
    }
}
#endif
