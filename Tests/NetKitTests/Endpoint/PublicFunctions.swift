import FoundationEssentials

/// Finds the public functions of NetKit and NetKitOffline that take a request, an endpoint or an operation.
enum PublicFunctions {
    /// The functions that take a request but are no way to send it, with the reason.
    static let exempt: [String: String] = [
        "Agent.cached(_:)": "sends nothing",
        "Agent.store(_:for:)": "sends nothing",
        "Agent.removeCached(_:)": "sends nothing",
        "Agent.cacheKey(for:headers:scope:)": "sends nothing",
        "Agent.cacheKey(forStarting:headers:scope:)": "sends nothing",
        "Agent.cancel(every:)": "sends nothing",
        "Agent.webSocket(_:options:)": "the tests of WebSockets check it, because its response has no value",
        "Agent.reconnectingWebSocket(_:options:)": "opens a WebSocket with webSocket(_:options:)",
        "UploadQueue.add(_:keeping:)": "QueuedCallTests checks it, because the request is stored first",
        "Agent.resumePartialDownloads(in:options:request:)": "sends a Request that its closure creates",
    ]

    private static let types = [
        "Agent", "RequestSender", "RequestConvertible", "Batch", "Chain", "StepGraph", "StepRun", "Pager",
        "UploadQueue", "Download",
    ]
    /// Families of overloads that differ only in their listeners.
    private static let families: Set = ["Agent.start", "Agent.prepare"]

    /// The functions, initializers and operation-valued properties of the types above: "Agent.send(_:)".
    static func sending() throws -> Set<String> {
        let root = #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined() + "/Sources"
        var found: Set<String> = []
        for module in ["NetKit", "NetKitOffline"] {
            let paths = try FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(module)")
            for path in paths.sorted() where path.hasSuffix(".swift") {
                let file = URL(filePath: "\(root)/\(module)/\(path)")
                found.formUnion(sending(in: String(decoding: try Data(contentsOf: file), as: UTF8.self)))
            }
        }
        return found
    }

    private static func sending(in text: String) -> Set<String> {
        var found: Set<String> = []
        var type = ""
        var declaration = ""
        for line in text.split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("//") {
            if let name = container(line) {
                type = name
            }
            if declaration.isEmpty, !line.hasPrefix("    public ") || !types.contains(type) {
                continue
            }
            declaration += line + " "
            if line.hasSuffix("{") || line.contains(" { ") || !isOpen(declaration) {
                if let name = name(of: declaration) {
                    let whole = "\(type).\(name)"
                    found.insert(families.first { whole.hasPrefix($0 + "(") } ?? whole)
                }
                declaration = ""
            }
        }
        return found
    }

    /// The name of the type that a line at the outermost level extends or declares.
    private static func container(_ line: Substring) -> String? {
        guard line.first != " ", line.hasSuffix("{") || line.contains("{") || line.hasPrefix("public ") else {
            return nil
        }
        let words = line.split { !$0.isLetter }
        let kinds: Set<Substring> = ["extension", "struct", "class", "protocol", "enum", "actor"]
        guard let kind = words.firstIndex(where: kinds.contains), kind + 1 < words.endIndex else { return nil }
        return String(words[kind + 1])
    }

    private static func isOpen(_ text: String) -> Bool { text.count { $0 == "(" } > text.count { $0 == ")" } }

    /// The name with the labels of its parameters, or `nil` if the declaration takes no request.
    private static func name(of declaration: String) -> String? {
        let marks = ["RequestConvertible", "Request<", "SendableOperation", ": Source"]
        let head = declaration.prefix { $0 != "{" }
        let name = head.split { " (<:".contains($0) }.drop { !["func", "init", "var"].contains($0) }
        if name.first == "var", let property = name.dropFirst().first {
            return head.contains("some SendableOperation<") ? String(property) : nil
        }
        guard let own = name.first == "init" ? name.first : name.dropFirst().first, let first = name.first,
            first == "func" || first == "init", let start = head.firstIndex(of: "("),
            marks.contains(where: head.prefix(upTo: end(of: head, from: start)).contains)
        else { return nil }
        return "\(own)(\(labels(head[start..<end(of: head, from: start)])))"
    }

    /// The end of the parameters that begin at an opening parenthesis.
    private static func end(of text: Substring, from start: Substring.Index) -> Substring.Index {
        var depth = 0
        for index in text[start...].indices {
            depth += text[index] == "(" ? 1 : text[index] == ")" ? -1 : 0
            if depth == 0 { return index }
        }
        return text.endIndex
    }

    private static func labels(_ parameters: Substring) -> String {
        var depth = 0
        var parts: [String] = [""]
        for character in parameters.dropFirst() {
            depth += "([<".contains(character) ? 1 : ")]".contains(character) ? -1 : character == ">" ? -1 : 0
            if character == "," && depth <= 0 {
                depth = 0
                parts.append("")
            } else {
                parts[parts.count - 1].append(character)
            }
        }
        return parts.compactMap { part in
            part.split(separator: " ").first.map { "\($0.prefix { $0 != ":" }):" }
        }.joined()
    }
}
