import NetKit

/// The format of -w: text with variables, as in curl.
struct WriteOut: Sendable {
    enum Piece: Sendable, Equatable {
        case text(String)
        case variable(String)
        case header(String)
        case standardOutput
        case standardError
        /// The following text is written only after a failure.
        case onError
    }

    /// The written bytes, by stream.
    struct Written: Equatable {
        var outputBytes: [UInt8] = []
        var errorBytes: [UInt8] = []
        fileprivate var goesToErrors = false

        var output: String { String(decoding: outputBytes, as: UTF8.self) }
        var errors: String { String(decoding: errorBytes, as: UTF8.self) }

        fileprivate mutating func append(_ text: String) {
            append(Bytes(Array(text.utf8)))
        }

        fileprivate mutating func append(_ bytes: Bytes) {
            if goesToErrors {
                errorBytes += Array(bytes)
            } else {
                outputBytes += Array(bytes)
            }
        }
    }

    let pieces: [Piece]
    /// The unknown variables.
    var unknown: [String] {
        pieces.compactMap { piece in
            guard case .variable(let name) = piece, Self.variables[name] == nil else { return nil }
            return ["json", "header_json"].contains(name) ? nil : name
        }
    }

    /// Parses "%{name}", "%header{name}", "%{header{name}}", "%%" and "\n", "\r", "\t". Other text is unchanged.
    ///
    /// By Unicode scalars: a brace and a combining mark form one Character, which is not a brace.
    init(_ format: String) {
        var pieces: [Piece] = []
        var text = "".unicodeScalars
        var rest = format.unicodeScalars[...]
        func flush() {
            if !text.isEmpty {
                pieces.append(.text(String(text)))
            }
            text.removeAll()
        }
        while let scalar = rest.popFirst() {
            if scalar == "\\", let next = rest.popFirst() {
                let meant: [Unicode.Scalar: Unicode.Scalar] = ["n": "\n", "r": "\r", "t": "\t"]
                text += meant[next].map { [$0] } ?? ["\\", next]
            } else if scalar == "%", rest.first == "%" {
                rest.removeFirst()
                text.append("%")
            } else if scalar == "%", let piece = Self.takePiece(&rest) {
                flush()
                pieces.append(piece)
            } else {
                text.append(scalar)
            }
        }
        flush()
        self.pieces = pieces
    }

    private static func takePiece(_ rest: inout Substring.UnicodeScalarView) -> Piece? {
        let fields = [("header{", "}"), ("{header{", "}}")].map { ($0.unicodeScalars, $1.unicodeScalars) }
        for (opening, closing) in fields where rest.starts(with: opening) {
            let inside = rest.dropFirst(opening.count)
            guard let end = inside.firstRange(of: closing) else { return nil }
            rest = inside[end.upperBound...]
            return .header(String(inside[..<end.lowerBound]))
        }
        guard rest.first == "{", let end = rest.firstIndex(of: "}") else { return nil }
        let name = String(rest[..<end].dropFirst()).lowercased()
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
            case .header(let name): written.append(account.headers.bytes(name) ?? [])
            case .variable("json"): written.append(Self.json(of: account))
            case .variable("header_json"): written.append(Self.json(of: account.headers))
            case .variable(let name): written.append(Self.variables[name]?(account).text ?? "")
            }
        }
        return written
    }
}
