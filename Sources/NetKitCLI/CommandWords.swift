import NetKit

/// Parses the arguments of a subcommand.
extension ArraySlice<String> {
    /// Removes and returns the value of an option.
    mutating func takeValue(of option: String, mayBeEmpty: Bool = false) throws(UsageError) -> String {
        guard let value = popFirst(), mayBeEmpty || !value.isEmpty else {
            throw UsageError("option \(option) needs a value")
        }
        return value
    }

    mutating func takeCount(of option: String) throws(UsageError) -> Int {
        let text = try takeValue(of: option)
        guard let count = Int(text), (1...1 << 40).contains(count) else {
            throw UsageError("\(option) takes a whole number from 1, not '\(text)'")
        }
        return count
    }

    /// Parses a field as for the `-H` of a fetch. Errors do not repeat the text, because it may be a secret.
    mutating func takeField(of option: String, to headers: inout Headers) throws(UsageError) {
        let text = try takeValue(of: option)
        guard case .send(let field)? = try? OptionValue.header(text), !field.name.isEmpty else {
            throw UsageError("\(option) takes 'Name: value'")
        }
        headers.append(field)
    }
}
