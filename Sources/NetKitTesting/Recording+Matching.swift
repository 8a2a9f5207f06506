import NetKit

extension Recording.Question {
    /// Whether it asks for the same: fields are not compared, because they change with versions and times, and of JSON
    /// the order of names is not, because a dictionary has none. The boundary of a form is not either: as a rule it is a
    /// random one.
    func matches(_ other: Self) -> Bool {
        // By bytes: texts that look the same are the same to String, and others to a server.
        guard method == other.method, url.utf8.elementsEqual(other.url.utf8) else { return false }
        guard let body else { return true }
        guard let their = other.body else { return false }
        if body.isSame(as: their) {
            return true
        }
        guard let form, let theirForm = other.form else { return false }
        return form.pieces == theirForm.pieces
    }

    /// The body as a form of several parts; nil when it is none.
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
    /// The same with the members of each object in the order of their names.
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
