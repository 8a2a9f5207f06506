/// One page of several.
public struct Page<Value: Sendable>: Sendable {
    /// What it came with.
    public let response: Response<Value>
    /// Its place, counted from 1, whatever the server counts from.
    public let number: Int
    /// Whether no page is known to come after it.
    public let isLast: Bool

    /// What is on it.
    public var value: Value { response.value }
    /// Whether it is the first.
    public var isFirst: Bool { number == 1 }
}
