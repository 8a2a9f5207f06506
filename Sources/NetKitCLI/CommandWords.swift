import NetKit

/// What stands behind the options of a subcommand.
extension ArraySlice<String> {
    /// The word behind an option.
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

    /// A field to send, written as behind the `-H` of a fetch. What is wrong with it is not repeated: it may be a secret.
    mutating func takeField(of option: String, to headers: inout Headers) throws(UsageError) {
        let text = try takeValue(of: option)
        guard case .send(let field)? = try? OptionValue.header(text), !field.name.isEmpty else {
            throw UsageError("\(option) takes 'Name: value'")
        }
        headers.append(field)
    }
}
