import NetKit

/// One option in curl's spelling, and what it changes.
struct Option: Sendable {
    enum Effect: Sendable {
        case flag(@Sendable (inout Arguments) -> Void)
        case value(@Sendable (inout Arguments, String) throws(UsageError) -> Void)
    }

    let short: Character?
    let long: String
    let effect: Effect

    static func flag(
        _ short: Character?, _ long: String, _ apply: @escaping @Sendable (inout Arguments) -> Void
    ) -> Option {
        Option(short: short, long: long, effect: .flag(apply))
    }

    static func value(
        _ short: Character?, _ long: String,
        _ apply: @escaping @Sendable (inout Arguments, String) throws(UsageError) -> Void
    ) -> Option {
        Option(short: short, long: long, effect: .value(apply))
    }

    /// Every option there is; docs/nk.md describes the same ones.
    static let all = asking + access + trust + network + output + downloads + limits + cache
}
