import NetKit

/// The file that describes the body of a response.
enum ExpectedBody: Sendable {
    /// The shape of --expect.
    case shape(String)
    /// The schema of --expect-schema.
    case schema(String)

    /// The option that names the file.
    var option: String {
        switch self {
        case .shape: "--expect"
        case .schema: "--expect-schema"
        }
    }

    /// Reads the file.
    func expectation() throws(Failure) -> JSONExpectation {
        switch self {
        case .shape(let path): JSONExpectation(try ValidateCommand.shape(in: path))
        case .schema(let path): JSONExpectation(schema: try ValidateCommand.schema(in: path))
        }
    }
}

extension Arguments {
    /// Sets the description of the body. A second one replaces the first one only if it belongs to the same option.
    mutating func expect(_ expected: ExpectedBody) throws(UsageError) {
        if let other = expectedBody, other.option != expected.option {
            throw UsageError("--expect and --expect-schema exclude each other")
        }
        expectedBody = expected
    }
}
