import NetKit

/// Reads the files of -d, -H and -F fields before the first URL, and only once: a pipe has no data for a second one.
extension Arguments {
    mutating func readInputs() throws(Failure) {
        Interrupt.isWaiting(true)
        defer { Interrupt.isWaiting(false) }
        sentData = try joinedData()
        changes = Array(try headers.map { choice throws(Failure) in try Self.changes(of: choice) }.joined())
        proxyFields = Array(try proxyHeaders.map { choice throws(Failure) in try Self.fields(of: choice) }.joined())
        condition = timeCondition.flatMap(Self.condition)
        // With --curl, curl reads it.
        if urls.count > 1 && !printsCurl {
            form = try form.map { field throws(Failure) in try field.readForSeveral() }
        }
    }

    /// Whether -H 'NAME:' omits a field. Valid after the files were read.
    func leavesOut(_ name: String) -> Bool {
        changes.contains { change in
            if case .leaveOut(let other) = change { other.lowercased() == name.lowercased() } else { false }
        }
    }

    /// The values of -d are joined by "&", those of --json are not.
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

    /// Returns `nil` for text that is neither a date nor an existing file.
    private static func condition(_ text: String) -> Headers.Field? {
        let names: [Unicode.Scalar: String] = [
            "-": "If-Unmodified-Since", "=": "Last-Modified", "+": "If-Modified-Since",
        ]
        let sign = names.keys.first { text.behind($0) != nil }
        let place = sign.flatMap { text.behind($0) } ?? text
        guard let seconds = OptionValue.epochSeconds(place) ?? InputFile.modified(place),
            HTTPDate.writableSeconds.contains(seconds)
        else { return nil }
        let name = sign.flatMap { names[$0] } ?? "If-Modified-Since"
        return .init(name: name, value: HTTPDate.text(ofEpochSeconds: seconds))
    }

    private static func changes(of choice: HeaderChoice) throws(Failure) -> [HeaderChange] {
        switch choice {
        case .change(let change): [change]
        case .file(let path): try changes(in: path)
        }
    }

    private static func fields(of choice: HeaderChoice) throws(Failure) -> [Headers.Field] {
        try changes(of: choice).map { change throws(Failure) in
            guard case .send(let field) = change else {
                throw Failure(ExitCode.usage, "a field of --proxy-header has no value")
            }
            return field
        }
    }

    /// A value that is not UTF-8 is sent unchanged: it is read with one scalar for each byte.
    private static func change(_ line: some Collection<UInt8>) throws(UsageError) -> HeaderChange {
        if let text = String(validating: line, as: UTF8.self) {
            return try OptionValue.header(text)
        }
        let change = try OptionValue.header(String(String.UnicodeScalarView(line.map { Unicode.Scalar($0) })))
        guard case .send(let field) = change else { return change }
        let value = field.value.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        return .send(.init(name: field.name, bytes: Bytes(value)))
    }

    /// Errors do not show the line, because a file of fields may contain secrets.
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
                let place = path == "-" ? "standard input" : path
                throw Failure(ExitCode.usage, "line \(index + 1) of \(place) is no field to send or to leave out")
            }
        }
        return changes
    }
}
