/// A value that a body may leave out.
protocol OptionalValue {
    static var absent: Self { get }
}

extension Optional: OptionalValue {
    static var absent: Wrapped? { nil }
}
