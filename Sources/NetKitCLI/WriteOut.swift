import NetKit

/// What -w writes: text with variables in it, as curl has them.
struct WriteOut: Sendable {
    enum Piece: Sendable, Equatable {
        case text(String)
        case variable(String)
        case header(String)
        case standardOutput
        case standardError
        /// What comes behind it is for a failure alone.
        case onError
    }

    /// What is written, to which stream.
    struct Written: Equatable {
        var output = ""
        var errors = ""
        fileprivate var goesToErrors = false

        fileprivate mutating func append(_ text: String) {
            if goesToErrors {
                errors += text
            } else {
                output += text
            }
        }
    }

    let pieces: [Piece]
    /// Variables that nobody knows.
    var unknown: [String] {
        pieces.compactMap { piece in
            guard case .variable(let name) = piece, Self.variables[name] == nil else { return nil }
            return ["json", "header_json"].contains(name) ? nil : name
        }
    }

    /// Reads "%{name}", "%header{name}", "%{header{name}}", "%%" and "\n", "\r", "\t"; the rest stays as it is.
    init(_ format: String) {
        var pieces: [Piece] = []
        var text = ""
        var rest = format[...]
        func flush() {
            if !text.isEmpty {
                pieces.append(.text(text))
            }
            text = ""
        }
        while let character = rest.popFirst() {
            if character == "\\", let next = rest.popFirst() {
                text += ["n": "\n", "r": "\r", "t": "\t"][next] ?? "\\\(next)"
            } else if character == "%", rest.first == "%" {
                rest.removeFirst()
                text += "%"
            } else if character == "%", let piece = Self.takePiece(&rest) {
                flush()
                pieces.append(piece)
            } else {
                text.append(character)
            }
        }
        flush()
        self.pieces = pieces
    }

    private static func takePiece(_ rest: inout Substring) -> Piece? {
        for (opening, closing) in [("header{", "}"), ("{header{", "}}")] where rest.hasPrefix(opening) {
            let inside = rest.dropFirst(opening.count)
            guard let end = inside.firstRange(of: closing) else { return nil }
            rest = inside[end.upperBound...]
            return .header(String(inside[..<end.lowerBound]))
        }
        guard rest.first == "{", let end = rest.firstIndex(of: "}") else { return nil }
        let name = rest[rest.index(after: rest.startIndex)..<end].lowercased()
        rest = rest[rest.index(after: end)...]
        switch name {
        case "stdout": return .standardOutput
        case "stderr": return .standardError
        case "onerror": return .onError
        default: return .variable(name)
        }
    }

    func written(for account: Account) -> Written {
        var written = Written()
        for piece in pieces {
            switch piece {
            case .text(let text): written.append(text)
            case .standardOutput: written.goesToErrors = false
            case .standardError: written.goesToErrors = true
            case .onError:
                if account.exitCode == ExitCode.success {
                    return written
                }
            case .header(let name): written.append(account.headers[name] ?? "")
            case .variable("json"): written.append(Self.json(of: account))
            case .variable("header_json"): written.append(Self.json(of: account.headers))
            case .variable(let name): written.append(Self.variables[name]?(account).text ?? "")
            }
        }
        return written
    }
}
