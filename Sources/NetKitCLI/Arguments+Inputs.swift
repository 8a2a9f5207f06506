import NetKit

/// Reads the files of -d, -H and -F fields. Each file is read once, before the first URL is fetched, because a pipe has
/// no data for a second reading.
extension Arguments {
    mutating func readInputs() throws(Failure) {
        Interrupt.isWaiting(true)
        defer { Interrupt.isWaiting(false) }
        sentData = try joinedData()
        changes = Array(try headers.map { argument throws(Failure) in try Self.changes(of: argument) }.joined())
        proxyFields = Array(try proxyHeaders.map { argument throws(Failure) in try Self.fields(of: argument) }.joined())
        condition = timeCondition.flatMap(Self.condition)
        etagCondition = try etagInput.map { path throws(Failure) in try Self.etagCondition(in: path) }
        // With --curl, the form is not read here, because curl reads its files.
        if urls.count > 1 && !printsCurl {
            form = try form.map { field throws(Failure) in try field.readForSeveral() }
        }
    }

    /// Returns true if -H 'NAME:' removes this field. The result is valid after the files were read.
    func removesField(_ name: String) -> Bool {
        changes.contains { change in
            if case .remove(let other) = change { other.lowercased() == name.lowercased() } else { false }
        }
    }

    /// Whether the netrc file is read. With --netrc-optional, a login in the command line has priority.
    var usesNetrc: Bool {
        let hasLogin = login != nil || urls.contains { URLText($0).login != nil }
        return !removesField("Authorization") && !(isNetrcOptional && hasLogin)
    }

    /// Returns all data to send, or `nil` if there is none. A value of -d is separated from the preceding value by "&";
    /// a value of --json is not.
    private func joinedData() throws(Failure) -> [UInt8]? {
        if data.isEmpty {
            return nil
        }
        var bytes: [UInt8] = []
        for (index, piece) in data.enumerated() {
            if index > 0 && !piece.isJSON {
                bytes.append(UInt8(ascii: "&"))
            }
            bytes += try piece.bytes()
        }
        return bytes
    }

    /// Returns the conditional field for the value of -z, or `nil` if it is neither a date nor an existing file.
    private static func condition(_ text: String) -> Headers.Field? {
        let names: [Unicode.Scalar: String] = [
            "-": "If-Unmodified-Since", "=": "Last-Modified", "+": "If-Modified-Since",
        ]
        let sign = names.keys.first { text.behind($0) != nil }
        let dateOrPath = sign.flatMap { text.behind($0) } ?? text
        guard let seconds = OptionValue.epochSeconds(dateOrPath) ?? InputFile.modified(dateOrPath),
            HTTPDate.writableSeconds.contains(seconds)
        else { return nil }
        let name = sign.flatMap { names[$0] } ?? "If-Modified-Since"
        return .init(name: name, value: HTTPDate.text(ofEpochSeconds: seconds))
    }

    /// Returns the conditional field for the file of --etag-compare. As in curl, a file that is missing or empty stands
    /// for an ETag that no response has.
    private static func etagCondition(in path: String) throws(Failure) -> Headers.Field {
        do throws(SystemError) {
            let line = try InputFile.contents(of: path).prefix { $0 != 10 && $0 != 13 }
            return .init(name: "If-None-Match", bytes: line.isEmpty ? Bytes(Array("\"\"".utf8)) : Bytes(Array(line)))
        } catch  where error.isMissingFile {
            return .init(name: "If-None-Match", value: "\"\"")
        } catch {
            throw Failure(reading: error, from: path)
        }
    }

    private static func changes(of argument: HeaderArgument) throws(Failure) -> [HeaderChange] {
        switch argument {
        case .change(let change): [change]
        case .file(let path): try changes(in: path)
        }
    }

    private static func fields(of argument: HeaderArgument) throws(Failure) -> [Headers.Field] {
        try changes(of: argument).map { change throws(Failure) in
            guard case .send(let field) = change else {
                throw Failure(ExitCode.usage, "a header in the file of --proxy-header has no value; use 'Name: value'")
            }
            return field
        }
    }

    /// Parses a line of a file of fields. A line that is not UTF-8 is parsed with one scalar for each byte, so that the
    /// value can be sent unchanged.
    private static func change(_ line: some Collection<UInt8>) throws(UsageError) -> HeaderChange {
        if let text = String(validating: line, as: UTF8.self) {
            return try OptionValue.header(text)
        }
        let change = try OptionValue.header(String(String.UnicodeScalarView(line.map { Unicode.Scalar($0) })))
        guard case .send(let field) = change else { return change }
        let value = field.value.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        return .send(.init(name: field.name, bytes: Bytes(value)))
    }

    /// Parses a file with one change per line. Error messages do not contain the line, because the file may contain
    /// secrets.
    private static func changes(in path: String) throws(Failure) -> [HeaderChange] {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try InputFile.contents(of: path)
        } catch {
            throw Failure(reading: error, from: path)
        }
        var changes: [HeaderChange] = []
        for (index, line) in bytes.split(separator: 10, omittingEmptySubsequences: false).enumerated() {
            let line = line.last == 13 ? line.dropLast() : line
            if line.isEmpty {
                continue
            }
            do throws(UsageError) {
                changes.append(try change(line))
            } catch {
                let name = path == "-" ? "standard input" : path
                throw Failure(
                    ExitCode.usage,
                    "line \(index + 1) of \(name) is not a header; use 'Name: value', 'Name;' or 'Name:'")
            }
        }
        return changes
    }
}
