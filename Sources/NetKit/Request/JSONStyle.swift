/// The layout of JSON text. The default is that of AFNetworking's JSON requests: compact, in the given order, "/" as
/// "\/".
///
/// The given order is that of a ``Parameters`` literal, or the order in which a value encodes its members. A dictionary
/// has no order and is sorted. Equal values give the same text in every process.
public struct JSONStyle: Sendable, Hashable {
    /// Whether the names of each object are sorted.
    public var isSorted: Bool
    /// Whether each value has its own line, indented by two spaces for each container.
    public var isPretty: Bool
    /// Whether "/" is not escaped.
    public var keepsSlashes: Bool

    /// Creates a style.
    public init(isSorted: Bool = false, isPretty: Bool = false, keepsSlashes: Bool = false) {
        self.isSorted = isSorted
        self.isPretty = isPretty
        self.keepsSlashes = keepsSlashes
    }

    /// Compact with sorted names: the text does not depend on the order of the members.
    public static var sorted: JSONStyle { JSONStyle(isSorted: true) }
}
