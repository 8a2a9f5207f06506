/// One page of a list.
public struct Page<Value: Sendable>: Sendable {
    /// The response with the page.
    public let response: Response<Value>
    /// The page's number, counted from 1 regardless of the server's numbering.
    public let number: Int
    /// Whether no further page is known.
    public let isLast: Bool

    /// The page's value.
    public var value: Value { response.value }
    /// Whether it is the first page.
    public var isFirst: Bool { number == 1 }
}
