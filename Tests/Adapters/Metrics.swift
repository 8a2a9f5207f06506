// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// As in swift-metrics.
public final class Counter {
    public init(label: String, dimensions: [(String, String)] = []) {}

    public func increment<Amount: BinaryInteger>(by amount: Amount) {}

    public func increment() {}
}

/// As in swift-metrics.
public final class Timer {
    public init(label: String, dimensions: [(String, String)] = []) {}

    public func recordNanoseconds(_ duration: Int64) {}
}
