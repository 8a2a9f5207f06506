/// A path pattern in which `*` matches one segment, and `**` matches any number of segments.
struct PathPattern: Sendable, Equatable {
    private enum Part: Equatable {
        /// A percent-decoded name.
        case name(String)
        case any
        case anyNumber

        func matches(_ name: String) -> Bool {
            switch self {
            case .name(let expected): expected == name
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

    /// Returns true if a path matches the pattern.
    ///
    /// - Parameter path: the path as received. Its segments are percent-decoded for the comparison.
    func matches(_ path: String) -> Bool {
        let names = path.split(separator: "/", omittingEmptySubsequences: false).map { Percent.decoded(String($0)) }
        var (part, name) = (0, 0)
        // The position at which to continue if the last `**` must match one more name. An earlier `**` never needs to
        // match more: the parts between two `**` are matched as early as possible, which leaves the most names for the
        // later parts.
        var retry: (part: Int, name: Int)?
        while name < names.count {
            if part < parts.count, parts[part] == .anyNumber {
                part += 1
                retry = (part, name)
            } else if part < parts.count, parts[part].matches(names[name]) {
                part += 1
                name += 1
            } else if let last = retry {
                (part, name) = (last.part, last.name + 1)
                retry = (part, name)
            } else {
                return false
            }
        }
        return parts[part...].allSatisfy { $0 == .anyNumber }
    }
}
