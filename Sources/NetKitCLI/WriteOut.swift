import NetKit

/// The format of -w, which is text with variables, as in curl.
struct WriteOut: Sendable {
    enum Piece: Sendable, Equatable {
        case text(String)
        case variable(String)
        case header(String)
        case standardOutput
        case standardError
        /// Everything after this is written only after a failure.
        case onError
    }

    /// The bytes to write to each stream.
    struct Written: Equatable {
        var outputBytes: [UInt8] = []
        var errorBytes: [UInt8] = []
        fileprivate var writesToErrors = false

        var output: String { String(decoding: outputBytes, as: UTF8.self) }
        var errors: String { String(decoding: errorBytes, as: UTF8.self) }

        fileprivate mutating func append(_ text: String) {
            append(Bytes(Array(text.utf8)))
        }

        fileprivate mutating func append(_ bytes: Bytes) {
            if writesToErrors {
                errorBytes += Array(bytes)
            } else {
                outputBytes += Array(bytes)
            }
        }
    }

    let pieces: [Piece]
    /// The names of the variables that nk does not have.
    var unknown: [String] {
        pieces.compactMap { piece in
            guard case .variable(let name) = piece, Self.variables[name] == nil else { return nil }
            return ["json", "header_json"].contains(name) ? nil : name
        }
    }

    /// Parses a format. It may contain "%{name}", "%header{name}", "%{header{name}}", "%%" and "\n", "\r", "\t". Other
    /// text is unchanged.
    ///
    /// The format is split into Unicode scalars, because a brace and a combining mark would form one Character that
    /// does not equal the brace.
    init(_ format: String) {
        var pieces: [Piece] = []
        var text = "".unicodeScalars
        var remaining = format.unicodeScalars[...]
        func flush() {
            if !text.isEmpty {
                pieces.append(.text(String(text)))
            }
            text.removeAll()
        }
        while let scalar = remaining.popFirst() {
            if scalar == "\\", let next = remaining.popFirst() {
                let escapes: [Unicode.Scalar: Unicode.Scalar] = ["n": "\n", "r": "\r", "t": "\t"]
                text += escapes[next].map { [$0] } ?? ["\\", next]
            } else if scalar == "%", remaining.first == "%" {
                remaining.removeFirst()
                text.append("%")
            } else if scalar == "%", let piece = Self.takePiece(&remaining) {
                flush()
                pieces.append(piece)
            } else {
                text.append(scalar)
            }
        }
        flush()
        self.pieces = pieces
    }

    private static func takePiece(_ remaining: inout Substring.UnicodeScalarView) -> Piece? {
        let fields = [("header{", "}"), ("{header{", "}}")].map { ($0.unicodeScalars, $1.unicodeScalars) }
        for (opening, closing) in fields where remaining.starts(with: opening) {
            let inside = remaining.dropFirst(opening.count)
            guard let end = inside.firstRange(of: closing) else { return nil }
            remaining = inside[end.upperBound...]
            return .header(String(inside[..<end.lowerBound]))
        }
        guard remaining.first == "{", let end = remaining.firstIndex(of: "}") else { return nil }
        let name = String(remaining[..<end].dropFirst()).lowercased()
        remaining = remaining[remaining.index(after: end)...]
        switch name {
        case "stdout": return .standardOutput
        case "stderr": return .standardError
        case "onerror": return .onError
        default: return .variable(name)
        }
    }

    func written(for transferReport: TransferReport) -> Written {
        var written = Written()
        for piece in pieces {
            switch piece {
            case .text(let text): written.append(text)
            case .standardOutput: written.writesToErrors = false
            case .standardError: written.writesToErrors = true
            case .onError:
                if transferReport.exitCode == ExitCode.success {
                    return written
                }
            case .header(let name): written.append(transferReport.headers.bytes(name) ?? [])
            case .variable("json"): written.append(Self.json(of: transferReport))
            case .variable("header_json"): written.append(Self.json(of: transferReport.headers))
            case .variable(let name): written.append(Self.variables[name]?(transferReport).text ?? "")
            }
        }
        return written
    }
}
