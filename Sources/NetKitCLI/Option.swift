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
    /// What "no-" before the long spelling does; nil where nothing is taken back.
    var undoes: (@Sendable (inout Arguments) -> Void)?

    /// A switch.
    static func flag(
        _ short: Character?, _ long: String, _ path: any WritableKeyPath<Arguments, Bool> & Sendable
    ) -> Option {
        Option(short: short, long: long, effect: .flag { $0[keyPath: path] = true }) { $0[keyPath: path] = false }
    }

    /// - Parameter undo: what takes it back; nil for one choice of several, which curl does not take back either.
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

    /// The option of a long spelling, or what takes a switch back: "--no-silent", or "--buffer" for "--no-buffer".
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

    /// Every option there is, in the order of --help all; docs/nk.md describes the same ones.
    static let groups: [(title: String, options: [Option])] = [
        ("What is asked", asking), ("Who asks", access), ("Who is believed", trust), ("The way", network),
        ("The output", output), ("Downloads", downloads), ("Limits", limits), ("What is kept", cache),
    ]

    static let all = groups.flatMap(\.options)
}
