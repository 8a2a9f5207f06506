// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Declares the part of swift-metrics that the adapter uses.
public final class Counter {
    public init(label: String, dimensions: [(String, String)] = []) {}

    public func increment<Amount: BinaryInteger>(by amount: Amount) {}

    public func increment() {}
}

/// Declares the part of swift-metrics that the adapter uses.
public final class Timer {
    public init(label: String, dimensions: [(String, String)] = []) {}

    public func recordNanoseconds(_ duration: Int64) {}
}
