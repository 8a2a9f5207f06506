/// How JSON text looks; as it comes, what AFNetworking's JSON requests are: compact, in the order given, "/" as "\/".
public struct JSONStyle: Sendable, Hashable {
    /// Whether the names of each object are sorted.
    public var isSorted: Bool
    /// Whether each value has a line of its own, two spaces deeper in each container.
    public var isPretty: Bool
    /// Whether "/" stays as it is.
    public var keepsSlashes: Bool

    /// A style.
    public init(isSorted: Bool = false, isPretty: Bool = false, keepsSlashes: Bool = false) {
        self.isSorted = isSorted
        self.isPretty = isPretty
        self.keepsSlashes = keepsSlashes
    }

    /// Compact, names sorted: the same text for the same values.
    public static var sorted: JSONStyle { JSONStyle(isSorted: true) }
}
