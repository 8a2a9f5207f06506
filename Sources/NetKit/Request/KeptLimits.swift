/// Limits behind one reference: nearly every request uses its agent's, and they are as large as the rest of a request.
final class KeptLimits: Sendable {
    let value: Limits

    init(_ value: Limits) {
        self.value = value
    }
}
