import NetKit

/// One option, spelled as in curl, and its effect on the arguments.
struct Option: Sendable {
    enum Effect: Sendable {
        case flag(@Sendable (inout Arguments) -> Void)
        case value(@Sendable (inout Arguments, String) throws(UsageError) -> Void)
    }

    let short: Character?
    let long: String
    let effect: Effect
    /// The effect of the negation, which is spelled with "no-". `nil` if the option has no negation.
    var undoes: (@Sendable (inout Arguments) -> Void)?

    /// Creates a flag that sets a value to true, and with its negation to false.
    static func toggle(
        _ short: Character?, _ long: String, _ set: @escaping @Sendable (inout Arguments, Bool) -> Void
    ) -> Option {
        Option(short: short, long: long, effect: .flag { set(&$0, true) }) { set(&$0, false) }
    }

    /// Creates a flag.
    ///
    /// - Parameter undo: the effect of the negation. `nil` for a flag that selects one of several alternatives; curl
    ///   has no negation for those either.
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

    /// Returns the option with a long spelling, or the negation of a flag, such as "--no-silent", or "--buffer" for
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

    /// All options, in the order of --help all. docs/nk.md describes them.
    static let groups: [(title: String, options: [Option])] = [
        ("Request", request), ("Authentication", access), ("TLS", trust), ("Connection", network),
        ("Output", output), ("Downloads", downloads), ("Limits and retries", limits), ("Cache", cache),
    ]

    static let all = groups.flatMap(\.options)
}
