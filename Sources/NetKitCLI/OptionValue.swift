import NetKit

/// Parses the values of options.
enum OptionValue {
    /// Parses a change of a field, or "@FILE" for a file with one change per line.
    ///
    /// - Parameter number: the position of the option among those of its kind, from 1, for error messages.
    static func headers(_ text: String, of option: String, number: Int) throws(UsageError) -> Arguments.HeaderArgument {
        if let path = text.behind("@") {
            return .file(path)
        }
        return .change(try header(text, of: "\(option) number \(number)"))
    }

    /// Parses a change of a field. "Name: value" sends a field, "Name;" sends a field with an empty value, and "Name:"
    /// removes a default field.
    ///
    /// The error for text without a colon does not contain the text. The text may be a secret value, if the user forgot
    /// the name of the field.
    static func header(_ text: String, of option: String = "-H") throws(UsageError) -> Arguments.HeaderChange {
        let fault = UsageError("\(option) has no colon: use 'Name: value', or 'Name;' for an empty value")
        guard let (before, mark, after) = text.cut(atFirst: ":", ";") else { throw fault }
        let name = trimmed(before[...])
        let value = trimmed(after[...])
        if mark == ";" {
            if !value.isEmpty {
                throw fault
            }
            return .send(.init(name: name, value: ""))
        }
        if !value.isEmpty {
            return .send(.init(name: name, value: value))
        }
        if ["host", "content-length"].contains(name.lowercased()) {
            throw UsageError("the header \(name) cannot be removed")
        }
        return .remove(name)
    }

    /// Checks ranges and returns them in the syntax of the Range field (RFC 9110, 14.1.2): FROM-TO, FROM- or -COUNT, or
    /// several of them separated by commas. A single number FROM becomes FROM-.
    static func range(_ text: String) throws(UsageError) -> String {
        if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
            return text + "-"
        }
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false)
            let isValid =
                ends.count == 2 && ends.contains { !$0.isEmpty }
                && ends.allSatisfy { $0.utf8.allSatisfy { (48...57).contains($0) } }
            if !isValid {
                throw UsageError("--range '\(text)' is not FROM-TO, FROM- or -COUNT")
            }
        }
        return text
    }

    /// Parses HOST:PORT:ADDRESS. The host * stands for any host. If there are several addresses, separated by commas,
    /// the first one is used.
    static func resolve(_ text: String) throws(UsageError) -> AddressOverride {
        let fault = UsageError("--resolve '\(text)' is not HOST:PORT:ADDRESS", exitCode: ExitCode.badAddress)
        var rest = (text.hasPrefix("+") ? text.dropFirst() : text[...])
        guard let host = takeHost(&rest), rest.popFirst() == ":", let port = takePort(&rest), port != 0,
            rest.popFirst() == ":", !host.isEmpty
        else { throw fault }
        let addresses = rest.split(separator: ",", omittingEmptySubsequences: false).map { part in
            String(part.hasPrefix("[") && part.hasSuffix("]") ? part.dropFirst().dropLast() : part)
        }
        if let other = addresses.first(where: { !isNumericAddress($0) }) {
            throw UsageError(
                "--resolve '\(text)' needs a numeric address, not '\(other)'", exitCode: ExitCode.badAddress)
        }
        return AddressOverride(host: host == "*" ? nil : host, port: port, toHost: addresses[0], toPort: nil)
    }

    /// Parses HOST1:PORT1:HOST2:PORT2. If HOST1 or PORT1 is empty, it matches any host or port. If HOST2 or PORT2 is
    /// empty, that of the URL is used. ":PORT2" is optional.
    static func connectTo(_ text: String) throws(UsageError) -> AddressOverride {
        var rest = text[...]
        guard let host = takeHost(&rest), rest.popFirst() == ":", let port = takePort(&rest), rest.popFirst() == ":",
            let toHost = takeHost(&rest), rest.isEmpty || rest.popFirst() == ":", let toPort = takePort(&rest),
            rest.isEmpty
        else {
            throw UsageError(
                "--connect-to '\(text)' is not HOST1:PORT1:HOST2:PORT2", exitCode: ExitCode.badAddress)
        }
        return AddressOverride(
            host: host.isEmpty ? nil : host, port: port == 0 ? nil : port, toHost: toHost.isEmpty ? nil : toHost,
            toPort: toPort == 0 ? nil : toPort)
    }

    /// Parses the largest number of redirects. -1 stands for no limit in curl; here it becomes 2,147,483,647.
    static func redirects(_ text: String) throws(UsageError) -> Int {
        guard let number = Int32(text), number >= -1 else {
            throw UsageError("--max-redirs '\(text)' is not a number from -1")
        }
        return number == -1 ? Int(Int32.max) : Int(number)
    }

    /// Parses a number of bytes, or of KiB, MiB or GiB with the suffix k, M or G. Returns `nil` for 0, which means the
    /// default limit.
    static func size(_ text: String, of option: String) throws(UsageError) -> Int? {
        let fault = UsageError("\(option) '\(text)' is not a number of bytes, nor one with k, M or G")
        let shifts: [Character: Int] = ["k": 10, "K": 10, "m": 20, "M": 20, "g": 30, "G": 30]
        let shift = text.last.flatMap { shifts[$0] }
        guard let number = number(shift == nil ? text[...] : text.dropLast()) else { throw fault }
        let (bytes, isTooMuch) = number.multipliedReportingOverflow(by: 1 << (shift ?? 0))
        if isTooMuch {
            throw fault
        }
        return bytes == 0 ? nil : bytes
    }

    /// Parses a decimal number of seconds. Returns `nil` for 0, which means the default limit.
    static func seconds(_ text: String, of option: String) throws(UsageError) -> Duration? {
        let digits = text.utf8.allSatisfy { (48...57).contains($0) || $0 == 46 }
        guard digits, let seconds = Double(text), seconds <= 1e9 else {
            throw UsageError("\(option) '\(text)' is not a number of seconds")
        }
        return seconds == 0 ? nil : max(.milliseconds(1), .milliseconds(Int((seconds * 1000).rounded())))
    }

    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
    }

    /// Removes and returns a host, which ends at the next colon. The brackets of an IPv6 address are removed.
    private static func takeHost(_ rest: inout Substring) -> String? {
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else { return nil }
            defer { rest = rest[rest.index(after: end)...] }
            return String(rest[rest.index(after: rest.startIndex)..<end])
        }
        let host = rest.prefix { $0 != ":" }
        rest = rest[host.endIndex...]
        return String(host)
    }

    /// Removes and returns a port. Returns 0 if there are no digits, and `nil` if they are not a port.
    private static func takePort(_ rest: inout Substring) -> UInt16? {
        let digits = rest.prefix { $0 != ":" }
        rest = rest[digits.endIndex...]
        return digits.isEmpty ? 0 : number(digits).flatMap { UInt16(exactly: $0) }
    }

    private static func isNumericAddress(_ text: String) -> Bool {
        if text.contains(":") {
            return text.utf8.allSatisfy { byte in
                byte == 58 || byte == 46 || Character(UnicodeScalar(byte)).isHexDigit
            }
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { number($0).flatMap { UInt8(exactly: $0) } != nil }
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }
}
