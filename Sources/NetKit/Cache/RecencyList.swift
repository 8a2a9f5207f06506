/// A table of values with costs that keeps the order in which the values were last used.
///
/// All operations on one value take constant time. The nodes form a doubly linked ring, and node 0 is its head.
package struct RecencyList<Key: Hashable, Value> {
    fileprivate struct Node {
        var key: Key?
        var value: Value?
        var cost = 0
        var newer = 0
        var older = 0
    }

    private var nodes = [Node()]
    private var indices: [Key: Int] = [:]
    private var free: [Int] = []

    /// Creates an empty list.
    package init() {}

    /// The total cost.
    package private(set) var cost = 0

    /// The number of values.
    package var count: Int { indices.count }

    /// All keys and values, least recently used first.
    package var all: [(key: Key, value: Value)] {
        var found: [(key: Key, value: Value)] = []
        var index = nodes[0].newer
        while index != 0 {
            if let key = nodes[index].key, let value = nodes[index].value {
                found.append((key, value))
            }
            index = nodes[index].newer
        }
        return found
    }

    /// The least recently used value.
    package var oldest: (key: Key, value: Value)? {
        let node = nodes[nodes[0].newer]
        guard let key = node.key, let value = node.value else { return nil }
        return (key, value)
    }

    /// Returns true if there is a value with this key.
    package func has(_ key: Key) -> Bool { indices[key] != nil }

    /// Returns the value of a key and makes it the most recently used.
    package mutating func use(_ key: Key) -> Value? {
        guard let index = indices[key] else { return nil }
        unlink(index)
        linkAsNewest(index)
        return nodes[index].value
    }

    /// Sets a value and makes it the most recently used.
    package mutating func set(_ value: Value, cost: Int, for key: Key) {
        remove(key)
        let node = Node(key: key, value: value, cost: cost)
        let index: Int
        if let last = free.popLast() {
            index = last
            nodes[index] = node
        } else {
            index = nodes.count
            nodes.append(node)
        }
        indices[key] = index
        linkAsNewest(index)
        self.cost += cost
    }

    /// Removes a value. Returns false if there was none.
    @discardableResult
    package mutating func remove(_ key: Key) -> Bool {
        guard let index = indices.removeValue(forKey: key) else { return false }
        unlink(index)
        cost -= nodes[index].cost
        nodes[index] = Node()
        free.append(index)
        return true
    }

    /// Removes the least recently used value. Returns false if there is none.
    package mutating func removeOldest() -> Bool {
        guard let key = nodes[nodes[0].newer].key else { return false }
        return remove(key)
    }

    /// Removes all values.
    package mutating func removeAll() {
        self = RecencyList()
    }

    private mutating func unlink(_ index: Int) {
        nodes[nodes[index].newer].older = nodes[index].older
        nodes[nodes[index].older].newer = nodes[index].newer
    }

    private mutating func linkAsNewest(_ index: Int) {
        let last = nodes[0].older
        nodes[index].newer = 0
        nodes[index].older = last
        nodes[last].newer = index
        nodes[0].older = index
    }
}

extension RecencyList: Sendable where Key: Sendable, Value: Sendable {}

extension RecencyList.Node: Sendable where Key: Sendable, Value: Sendable {}
