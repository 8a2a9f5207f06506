/// A typed option that a request carries for an interceptor, an observer or the app.
///
///     enum Tag: RequestNote { static let standard: Int? = nil }
///     request[Tag.self] = 7
///
/// Transports ignore it, and it is never sent.
public protocol RequestNote: SendableMetatype {
    /// The type of the option.
    associatedtype Value: Sendable
    /// The value of a request that does not set the option.
    static var standard: Value { get }
}

extension Request {
    /// The value of an option.
    public subscript<Note: RequestNote>(note: Note.Type) -> Note.Value {
        get { kept.value.rare?.value.notes[ObjectIdentifier(note)] as? Note.Value ?? Note.standard }
        set { content.rareParts.notes[ObjectIdentifier(note)] = newValue }
    }

    /// Whether any option is set.
    var hasNotes: Bool { kept.value.rare.map { !$0.value.notes.isEmpty } ?? false }

    /// Returns true if this option is set.
    func carries<Note: RequestNote>(_ note: Note.Type) -> Bool {
        kept.value.rare.map { $0.value.notes[ObjectIdentifier(note)] != nil } ?? false
    }

    /// Removes an option.
    mutating func drop<Note: RequestNote>(_ note: Note.Type) {
        if carries(note) {
            content.rareParts.notes[ObjectIdentifier(note)] = nil
        }
    }
}
