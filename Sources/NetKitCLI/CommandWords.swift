import NetKit

/// Functions that parse the arguments of a subcommand.
extension ArraySlice<String> {
    /// Removes and returns the value of an option.
    mutating func takeValue(of option: String, mayBeEmpty: Bool = false) throws(UsageError) -> String {
        guard let value = popFirst(), mayBeEmpty || !value.isEmpty else {
            throw UsageError("option \(option) needs a value")
        }
        return value
    }

    /// Removes and returns the value of an option, which must be a whole number from 1.
    mutating func takeCount(of option: String) throws(UsageError) -> Int {
        let text = try takeValue(of: option)
        guard let count = Int(text), (1...1 << 40).contains(count) else {
            throw UsageError("invalid \(option) '\(text)': expected a whole number from 1")
        }
        return count
    }

    /// Removes the value of an option, parses it like the value of `-H`, and appends it to `headers`. Error messages do
    /// not contain the text, because it may be a secret.
    mutating func takeField(of option: String, to headers: inout Headers) throws(UsageError) {
        let text = try takeValue(of: option)
        guard case .send(let field)? = try? OptionValue.header(text), !field.name.isEmpty else {
            throw UsageError("\(option) needs 'Name: value'")
        }
        headers.append(field)
    }
}
