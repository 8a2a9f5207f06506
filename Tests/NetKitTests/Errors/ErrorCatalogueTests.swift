import FoundationEssentials
import Testing

/// docs/errors.md lists every code, and nothing else.
struct ErrorCatalogueTests {
    private static let root = #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()

    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: Self.root + "/" + path, encoding: .utf8)
    }

    /// Returns the cells of the table's rows.
    private func rows() throws -> [[String]] {
        try text("docs/errors.md").split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
                $0.split(separator: " ").joined(separator: " ")
            }
            return cells.count == 7 && Int(cells[1]) != nil ? Array(cells[1...5]) : nil
        }
    }

    @Test func everyCoreStatusIsDocumented() throws {
        let known = try text("include/netcore/status.h").split(separator: "\n").compactMap { line -> String? in
            let parts = line.split { "(), ".contains($0) }
            return parts.count > 2 && parts[0] == "X" && parts[1].hasPrefix("NC_") ? "\(parts[2]) `\(parts[1])`" : nil
        }
        let listed = try rows().filter { $0[1] != "—" }.map { "\($0[0]) \($0[1])" }
        #expect(known.count > 50 && Set(listed) == Set(known) && listed.count == known.count)
    }

    @Test func everySwiftErrorCodeIsDocumented() throws {
        let source = try text("Sources/NetKit/Errors/NetError+Codes.swift")
        let known = source.split(separator: "\n").compactMap { line -> String? in
            let parts = line.split { " =`".contains($0) }
            return parts.count == 3 && parts[0] == "case" ? "\(parts[2]) `\(parts[1])`" : nil
        }
        // A download's bad status has its own code only in C.
        let listed = try rows().filter { $0[2] != "—" && $0[0] != "50" }.map { "\($0[0]) \($0[2])" }
        #expect(known.count > 70 && Set(listed) == Set(known) && listed.count == known.count)
    }

    @Test func everyErrorCodeHasACauseAndARemedy() throws {
        for row in try rows() {
            #expect(row[3].hasSuffix(".") && row[4].count > 5)
        }
    }
}
