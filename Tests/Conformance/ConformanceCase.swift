import NetKit
import Testing

/// A behaviour that every transport must have, written once.
struct ConformanceCase: Sendable, CustomTestStringConvertible {
    let name: String
    let play: @Sendable (any Fixture) async throws -> Void

    init(_ name: String, _ play: @escaping @Sendable (any Fixture) async throws -> Void) {
        self.name = name
        self.play = play
    }

    var testDescription: String { name }

    /// Every case.
    static let all: [ConformanceCase] = [
        heads, bodies, redirects, uploads, refusals, endings, lives, expectations,
    ].flatMap { $0 }

    /// The cases that a stub cannot run, each with the reason. They concern layers below the transport protocol.
    static let excludedForStub: [String: String] = [
        "not-http": "a stub's reply is a status, fields and a body: there is no line that could be malformed",
        "conflicting-lengths": "a stub's body has the length it has; Content-Length frames nothing",
        "ambiguous-framing": "a stub's body has no framing that two fields could contradict",
        "interim-heads": "the seam shows the final head alone, so a stub has no other",
        "gzip": "the seam gives bodies with their codings undone, and a stub's are so from the start",
    ]
}

/// Returns the error that the operation throws, or `nil` if it succeeds.
func thrown(_ operation: () async throws(NetError) -> Void) async -> NetError? {
    do throws(NetError) {
        try await operation()
        return nil
    } catch {
        return error
    }
}

extension Array<Headers.Field> {
    /// Creates fields from names and values, in order.
    init(_ pairs: KeyValuePairs<String, String>) {
        self = pairs.map { Headers.Field(name: $0.key, value: $0.value) }
    }
}
