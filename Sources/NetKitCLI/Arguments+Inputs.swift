import NetKit

/// What -d, -H and a field of -F name is read before the first URL, and once: a pipe has nothing for a second one.
extension Arguments {
    mutating func readInputs() throws(Failure) {
        Interrupt.isWaiting(true)
        defer { Interrupt.isWaiting(false) }
        sentData = try joinedData()
        changes = []
        for choice in headers {
            switch choice {
            case .change(let change): changes.append(change)
            case .file(let path): changes += try Self.changes(in: path)
            }
        }
        // For --curl it is curl that reads it.
        if urls.count > 1 && !printsCurl {
            form = try form.map { field throws(Failure) in try field.readForSeveral() }
        }
    }

    /// Whether -H 'NAME:' says to leave a field out; known once its files are read.
    func leavesOut(_ name: String) -> Bool {
        changes.contains { change in
            if case .leaveOut(let other) = change { other.lowercased() == name.lowercased() } else { false }
        }
    }

    /// The pieces of -d are joined by "&", those of --json are not.
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

    /// A line is not told: whoever writes fields into a file may hide them there.
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
                guard let text = String(validating: line, as: UTF8.self) else { throw UsageError("it is not UTF-8") }
                changes.append(try OptionValue.header(text))
            } catch {
                throw Failure(ExitCode.usage, "line \(index + 1) of \(path) is no field to send or to leave out")
            }
        }
        return changes
    }
}
