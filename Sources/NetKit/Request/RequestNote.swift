/// Names something that a request carries for whoever knows of it: an interceptor, an observer, the app.
///
///     enum Tag: RequestNote { static let standard: Int? = nil }
///     request[Tag.self] = 7
///
/// No transport looks at it, and nothing of it is sent.
public protocol RequestNote: SendableMetatype {
    /// What is carried.
    associatedtype Value: Sendable
    /// What a request carries that says nothing.
    static var standard: Value { get }
}

extension Request {
    /// What the request carries under this name.
    public subscript<Note: RequestNote>(note: Note.Type) -> Note.Value {
        get { kept.value.rare?.value.notes[ObjectIdentifier(note)] as? Note.Value ?? Note.standard }
        set { content.rareParts.notes[ObjectIdentifier(note)] = newValue }
    }

    /// Whether it carries anything.
    var hasNotes: Bool { kept.value.rare.map { !$0.value.notes.isEmpty } ?? false }

    /// Whether it carries something under this name.
    func carries<Note: RequestNote>(_ note: Note.Type) -> Bool {
        kept.value.rare.map { $0.value.notes[ObjectIdentifier(note)] != nil } ?? false
    }

    /// Takes away what it carries under this name.
    mutating func drop<Note: RequestNote>(_ note: Note.Type) {
        if carries(note) {
            content.rareParts.notes[ObjectIdentifier(note)] = nil
        }
    }
}
