/// A path in which `*` stands for one part and `**` for any number of them.
struct PathPattern: Sendable, Equatable {
    private enum Part: Equatable {
        /// Percent-decoded.
        case name(String)
        case any
        case anyNumber

        func matches(_ name: String) -> Bool {
            switch self {
            case .name(let own): own == name
            case .any: !name.isEmpty
            case .anyNumber: false
            }
        }
    }

    private let parts: [Part]

    init(_ text: String) {
        parts = text.split(separator: "/", omittingEmptySubsequences: false).map { part in
            switch part {
            case "**": .anyNumber
            case "*": .any
            default: .name(Percent.decoded(String(part)))
            }
        }
    }

    /// - Parameter path: as it came; it is compared part by part, percent-decoded.
    func matches(_ path: String) -> Bool {
        let names = path.split(separator: "/", omittingEmptySubsequences: false).map { Percent.decoded(String($0)) }
        var (part, name) = (0, 0)
        // Where to go on when the last `**` takes one name more. Those before it never have to: what stands behind one
        // was found as early as it can be, which leaves the most to those that follow.
        var again: (part: Int, name: Int)?
        while name < names.count {
            if part < parts.count, parts[part] == .anyNumber {
                part += 1
                again = (part, name)
            } else if part < parts.count, parts[part].matches(names[name]) {
                part += 1
                name += 1
            } else if let last = again {
                (part, name) = (last.part, last.name + 1)
                again = (part, name)
            } else {
                return false
            }
        }
        return parts[part...].allSatisfy { $0 == .anyNumber }
    }
}
