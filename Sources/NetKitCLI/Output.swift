import NetKit

/// A part of what is written, in order.
enum OutputPiece {
    case text(String)
    case bytes(Bytes)

    func write(to descriptor: Int32) throws(SystemError) {
        switch self {
        case .text(let text):
            try Terminal.write(text, to: descriptor)
        case .bytes(let bytes):
            try bytes.withSpan { (span) throws(SystemError) in try Terminal.write(span, to: descriptor) }
        }
    }
}

/// Where a response goes: standard output, or a file that appears whole.
enum Output {
    /// Returns what went wrong, as a line, or nil.
    static func write(_ pieces: [OutputPiece], to path: String?) -> String? {
        let isFile = path != nil && path != "-"
        do throws(SystemError) {
            if let path, isFile {
                try OutputFile.write(pieces, to: path)
            } else {
                for piece in pieces {
                    try piece.write(to: Terminal.standardOutput)
                }
            }
            return nil
        } catch {
            return "cannot write to \(isFile ? path ?? "" : "standard output"): \(error.message)"
        }
    }

    /// The status line and the fields, as HTTP/1.1 spells them; the library keeps no reason phrase.
    static func head(of response: Response<Bytes>) -> String {
        var head = "\(response.httpVersion) \(response.status) \r\n"
        for field in response.headers {
            head += field.value.isEmpty ? "\(field.name):\r\n" : "\(field.name): \(field.value)\r\n"
        }
        return head + "\r\n"
    }
}
