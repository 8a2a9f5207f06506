/// How JSON text looks; as it comes, what AFNetworking's JSON requests are: compact, in the order given, "/" as "\/".
///
/// The order given is that of a literal of ``Parameters``, and of a value that in which it encodes its members. A
/// dictionary has none, and is sorted. The same value is the same text in every process.
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

    /// Compact, names sorted: the same text, whatever order members were encoded or written in.
    public static var sorted: JSONStyle { JSONStyle(isSorted: true) }
}
