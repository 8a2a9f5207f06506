/// A type with a value for an absent body.
protocol OptionalValue {
    static var absent: Self { get }
}

extension Optional: OptionalValue {
    static var absent: Wrapped? { nil }
}
