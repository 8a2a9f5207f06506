import NetKit

extension Recording.Question {
    /// Returns true if both requests are the same. These differences are ignored:
    /// - header fields, because they change with versions and times
    /// - the order of JSON members, because dictionaries have no order
    /// - the boundary of a form, which is usually random
    func matches(_ other: Self) -> Bool {
        // The bytes are compared, because a server may treat canonically equivalent strings as different URLs.
        guard method == other.method, url.utf8.elementsEqual(other.url.utf8) else { return false }
        guard let body else { return true }
        guard let otherBody = other.body else { return false }
        if body.isEquivalent(to: otherBody) {
            return true
        }
        guard let form, let otherForm = other.form else { return false }
        return form.pieces == otherForm.pieces
    }

    /// The body as a multipart form, or `nil` if it is not one.
    private var form: RecordedForm? {
        let type = fields.headers["Content-Type"]
        return body.flatMap { RecordedForm($0.bytes, type) }
    }
}

extension Recording.Content {
    /// Creates the content of a body, with its secrets hidden.
    init(_ bytes: Bytes, _ type: String?, without redaction: Redaction) {
        if let redactedText = redaction.hiding(body: bytes, contentType: type, keepsTypes: true) {
            self.init(text: redactedText)
        } else if let form = RecordedForm(bytes, type) {
            self.init(form.hidingSecrets(redaction.bodyFields))
        } else {
            self.init(redaction.hiding(brokenJSON: bytes, contentType: type, keepsTypes: true) ?? bytes)
        }
    }

    /// Returns true if both have the same bytes, or are JSON texts with the same content.
    fileprivate func isEquivalent(to other: Self) -> Bool {
        if bytes == other.bytes {
            return true
        }
        guard let value = try? JSONValue(bytes), let otherValue = try? JSONValue(other.bytes) else { return false }
        return value.sortedByName == otherValue.sortedByName
    }
}

extension JSONValue {
    /// Returns the value with the members of each object sorted by name.
    fileprivate var sortedByName: JSONValue {
        switch self {
        case .array(let values): return .array(values.map(\.sortedByName))
        case .object(let members):
            let sortedMembers = members.map { Member(name: $0.name, value: $0.value.sortedByName) }
            return .object(sortedMembers.sorted { $0.name < $1.name })
        default: return self
        }
    }
}
