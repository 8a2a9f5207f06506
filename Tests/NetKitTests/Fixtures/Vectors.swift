import FoundationEssentials
import NetKit

/// Returns the rows of a file in Tests/Vectors. The C tests read the same files.
func vectors<Row: Decodable>(_ name: String, of row: Row.Type = Row.self) throws -> [Row] {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    let file = try Data(contentsOf: URL(filePath: "\(folder)/Vectors/\(name)"))
    return try JSONDecoder().decode([Row].self, from: file)
}

/// Returns the rows as JSON trees.
func vectorTrees(_ name: String) throws -> [JSONValue] {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    return try JSONValue(Bytes(try Data(contentsOf: URL(filePath: "\(folder)/Vectors/\(name)")))).array ?? []
}
