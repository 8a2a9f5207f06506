import FoundationEssentials
import NetKit
import Testing

/// The files of Tests/Vectors that the C tests read too.
struct QueryVectorTests {
    private static func vectors(_ name: String) throws -> [Parameters] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Vectors")
        let text = Bytes(try Data(contentsOf: folder.appending(path: name)))
        guard case .array(let vectors) = try Parameters(json: text) else { return [] }
        return vectors
    }

    private static func text(_ value: Parameters?) -> String? {
        guard case .string(let text)? = value else { return nil }
        return text
    }

    private static func encoding(_ options: Parameters?) -> QueryEncoding {
        func option(_ name: String) -> String? { text(options?[name]) }
        let arrays: [String: QueryEncoding.ArrayStyle] = [
            "indexed": .indexed, "repeat": .repeated, "comma": .commaSeparated,
        ]
        return QueryEncoding(
            arrays: option("arrays").flatMap { arrays[$0] } ?? .brackets,
            nested: option("nested") == "dots" ? .dots : .brackets,
            booleans: option("booleans") == "words" ? .words : .numbers,
            spaces: option("spaces") == "plus" ? .plus : .percent,
            order: option("order") == "given" ? .asGiven : .sorted)
    }

    /// Returns the vector's parameters. Arrays that "sets" names become sets.
    private static func parameters(_ vector: Parameters) throws -> Parameters {
        var parameters = try #require(vector["params"])
        if case .array(let names)? = vector["sets"] {
            for name in names.compactMap(text) {
                guard case .array(let values)? = parameters[name] else { continue }
                parameters[name] = .set(Set(values))
            }
        }
        return parameters
    }

    @Test(arguments: ["query.json", "query_own.json"])
    func everyVectorBecomesItsQuery(file: String) throws {
        let vectors = try Self.vectors(file)
        #expect(vectors.count >= 13)
        for vector in vectors {
            let encoding = Self.encoding(vector["options"])
            let parameters = try Self.parameters(vector)
            if let key = Self.text(vector["error"]) {
                let error = #expect(throws: NetError.self) { try encoding.query(parameters) }
                #expect(error?.code == .badParameter)
                #expect(error?.message.contains("'\(key)'") == true)
            } else {
                #expect(try encoding.query(parameters) == Self.text(vector["query"]), "\(vector)")
            }
        }
    }

    @Test func queryIsInsertedIntoItsURL() throws {
        for vector in try Self.vectors("query_attach.json") {
            let query = try #require(Self.text(vector["query"]))
            let encoding = QueryEncoding { _ in query }
            let url = try #require(Self.text(vector["url"]))
            #expect(try encoding.url(url, with: [:]) == Self.text(vector["result"]))
        }
    }
}
