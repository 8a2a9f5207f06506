/// Limits behind one reference: nearly every request goes by its agent's, and they are as large as the rest of it.
final class KeptLimits: Sendable {
    let value: Limits

    init(_ value: Limits) {
        self.value = value
    }
}
