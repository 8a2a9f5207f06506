/// A path in which `*` stands for one part and `**` for any number of them.
struct PathPattern: Sendable, Equatable {
    private let parts: [String]

    init(_ text: String) {
        parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    }

    /// - Parameter path: as it came; it is compared part by part, percent-decoded.
    func matches(_ path: String) -> Bool {
        let given = path.split(separator: "/", omittingEmptySubsequences: false).map { Percent.decoded(String($0)) }
        return Self.matches(parts[...], given[...])
    }

    private static func matches(_ parts: ArraySlice<String>, _ given: ArraySlice<String>) -> Bool {
        var (parts, given) = (parts, given)
        while let part = parts.first {
            if part == "**" {
                let rest = parts.dropFirst()
                return rest.isEmpty || (given.startIndex...given.endIndex).contains { matches(rest, given[$0...]) }
            }
            guard let name = given.first, part == "*" ? !name.isEmpty : Percent.decoded(part) == name else {
                return false
            }
            (parts, given) = (parts.dropFirst(), given.dropFirst())
        }
        return given.isEmpty
    }
}
