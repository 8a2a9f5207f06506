/// Values by key in the order of their use, each with a cost.
///
/// Every operation takes constant time: the order is a ring through the array of nodes, with node 0 as its head.
package struct RecencyList<Key: Hashable, Value> {
    fileprivate struct Node {
        var key: Key?
        var value: Value?
        var cost = 0
        var newer = 0
        var older = 0
    }

    private var nodes = [Node()]
    private var places: [Key: Int] = [:]
    private var free: [Int] = []

    /// Creates an empty list.
    package init() {}

    /// The total cost.
    package private(set) var cost = 0

    /// The number of values.
    package var count: Int { places.count }

    /// Keys and values, least recently used first.
    package var all: [(key: Key, value: Value)] {
        var found: [(key: Key, value: Value)] = []
        var place = nodes[0].newer
        while place != 0 {
            if let key = nodes[place].key, let value = nodes[place].value {
                found.append((key, value))
            }
            place = nodes[place].newer
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
    package func has(_ key: Key) -> Bool { places[key] != nil }

    /// Returns the value of a key and makes it the most recently used.
    package mutating func use(_ key: Key) -> Value? {
        guard let place = places[key] else { return nil }
        unlink(place)
        linkAsNewest(place)
        return nodes[place].value
    }

    /// Sets a value and makes it the most recently used.
    package mutating func set(_ value: Value, cost: Int, for key: Key) {
        remove(key)
        let node = Node(key: key, value: value, cost: cost)
        let place: Int
        if let last = free.popLast() {
            place = last
            nodes[place] = node
        } else {
            place = nodes.count
            nodes.append(node)
        }
        places[key] = place
        linkAsNewest(place)
        self.cost += cost
    }

    /// Removes a value. Returns false if there was none.
    @discardableResult
    package mutating func remove(_ key: Key) -> Bool {
        guard let place = places.removeValue(forKey: key) else { return false }
        unlink(place)
        cost -= nodes[place].cost
        nodes[place] = Node()
        free.append(place)
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

    private mutating func unlink(_ place: Int) {
        nodes[nodes[place].newer].older = nodes[place].older
        nodes[nodes[place].older].newer = nodes[place].newer
    }

    private mutating func linkAsNewest(_ place: Int) {
        let last = nodes[0].older
        nodes[place].newer = 0
        nodes[place].older = last
        nodes[last].newer = place
        nodes[0].older = place
    }
}

extension RecencyList: Sendable where Key: Sendable, Value: Sendable {}

extension RecencyList.Node: Sendable where Key: Sendable, Value: Sendable {}
