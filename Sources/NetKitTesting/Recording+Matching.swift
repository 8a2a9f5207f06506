import NetKit

extension Recording.Question {
    /// Returns whether both requests are the same. These do not count:
    /// - fields, which change with versions and times
    /// - the order of JSON members, because dictionaries have none
    /// - the boundary of a form, which is usually random
    func matches(_ other: Self) -> Bool {
        // Compares bytes: strings that String treats as equal may be different URLs to a server.
        guard method == other.method, url.utf8.elementsEqual(other.url.utf8) else { return false }
        guard let body else { return true }
        guard let their = other.body else { return false }
        if body.isSame(as: their) {
            return true
        }
        guard let form, let theirForm = other.form else { return false }
        return form.pieces == theirForm.pieces
    }

    /// The body as a multipart form, or `nil` if it is not one.
    private var form: RecordedForm? {
        let type = fields.headers["Content-Type"]
        return body.flatMap { RecordedForm($0.bytes, type) }
    }
}

extension Recording.Content {
    init(_ bytes: Bytes, _ type: String?, without redaction: Redaction) {
        if let shown = redaction.hiding(body: bytes, contentType: type, keepsTypes: true) {
            self.init(text: shown)
        } else if let form = RecordedForm(bytes, type) {
            self.init(form.hidingSecrets(redaction.bodyFields))
        } else {
            self.init(redaction.hiding(brokenJSON: bytes, contentType: type, keepsTypes: true) ?? bytes)
        }
    }

    fileprivate func isSame(as other: Self) -> Bool {
        let (bytes, their) = (bytes, other.bytes)
        if bytes == their {
            return true
        }
        guard let own = try? JSONValue(bytes), let other = try? JSONValue(their) else { return false }
        return own.inOrder == other.inOrder
    }
}

extension JSONValue {
    /// Returns the value with the members of each object sorted by name.
    fileprivate var inOrder: JSONValue {
        switch self {
        case .array(let values): return .array(values.map(\.inOrder))
        case .object(let members):
            let ordered = members.map { Member(name: $0.name, value: $0.value.inOrder) }
            return .object(ordered.sorted { $0.name < $1.name })
        default: return self
        }
    }
}
