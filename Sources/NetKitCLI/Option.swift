import NetKit

/// One option in curl's spelling, and its effect.
struct Option: Sendable {
    enum Effect: Sendable {
        case flag(@Sendable (inout Arguments) -> Void)
        case value(@Sendable (inout Arguments, String) throws(UsageError) -> Void)
    }

    let short: Character?
    let long: String
    let effect: Effect
    /// The effect of "no-" before the long spelling; `nil` if it has no negation.
    var undoes: (@Sendable (inout Arguments) -> Void)?

    /// Creates a flag.
    static func flag(
        _ short: Character?, _ long: String, _ path: any WritableKeyPath<Arguments, Bool> & Sendable
    ) -> Option {
        Option(short: short, long: long, effect: .flag { $0[keyPath: path] = true }) { $0[keyPath: path] = false }
    }

    /// - Parameter undo: the effect of its negation. `nil` for one of several alternatives, which curl does not negate
    ///   either.
    static func flag(
        _ short: Character?, _ long: String, undo: (@Sendable (inout Arguments) -> Void)? = nil,
        _ apply: @escaping @Sendable (inout Arguments) -> Void
    ) -> Option {
        Option(short: short, long: long, effect: .flag(apply), undoes: undo)
    }

    static func value(
        _ short: Character?, _ long: String,
        _ apply: @escaping @Sendable (inout Arguments, String) throws(UsageError) -> Void
    ) -> Option {
        Option(short: short, long: long, effect: .value(apply))
    }

    /// Returns the option of a long spelling, or the negation of a flag: "--no-silent", or "--buffer" for
    /// "--no-buffer".
    static func named(_ long: String) -> Option? {
        if let option = all.first(where: { $0.long == long }) {
            return option
        }
        let opposite = long.hasPrefix("no-") ? String(long.dropFirst(3)) : "no-" + long
        if long.hasPrefix("no-"), opposite.hasPrefix("no-") {
            return nil
        }
        return all.first { $0.long == opposite }?.undoes.map { .flag(nil, long, $0) }
    }

    /// All options, in the order of --help all; docs/nk.md describes the same ones.
    static let groups: [(title: String, options: [Option])] = [
        ("What is asked", asking), ("Who asks", access), ("Who is believed", trust), ("The way", network),
        ("The output", output), ("Downloads", downloads), ("Limits", limits), ("What is kept", cache),
    ]

    static let all = groups.flatMap(\.options)
}
