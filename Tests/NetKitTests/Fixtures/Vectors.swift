import FoundationEssentials
import NetKit

/// A file of Tests/Vectors: what the C tests read too.
func vectors<Row: Decodable>(_ name: String, of row: Row.Type = Row.self) throws -> [Row] {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    let file = try Data(contentsOf: URL(filePath: "\(folder)/Vectors/\(name)"))
    return try JSONDecoder().decode([Row].self, from: file)
}

/// The same as trees.
func vectorTrees(_ name: String) throws -> [JSONValue] {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    return try JSONValue(Bytes(try Data(contentsOf: URL(filePath: "\(folder)/Vectors/\(name)")))).elements ?? []
}
