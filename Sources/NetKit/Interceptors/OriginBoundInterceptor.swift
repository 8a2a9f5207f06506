/// An interceptor whose additions belong to the base URL's origin only, such as credentials or a signature.
///
/// An agent's is skipped for calls to origins that are not the agent's, and a service's for origins that are not the
/// service's (``Agent/Configuration/trustedOrigins``). A request's own always runs. Without a base URL none is skipped.
public protocol OriginBoundInterceptor: Interceptor {}

/// Whether agent and service add nothing to a request, because its URL's origin is not theirs.
struct Outsiders: OptionSet, Sendable {
    let rawValue: UInt8

    static let agent = Outsiders(rawValue: 1)
    static let service = Outsiders(rawValue: 2)
}

private enum OutsidersNote: RequestNote {
    static let standard: Outsiders = []
}

extension Request {
    /// The ones that add nothing to the request.
    var outsiders: Outsiders { hasNotes ? self[OutsidersNote.self] : [] }
}

extension RequestContent {
    mutating func setOutsiders(_ outsiders: Outsiders) {
        let key = ObjectIdentifier(OutsidersNote.self)
        if !outsiders.isEmpty || rare?.value.notes[key] != nil {
            rareParts.notes[key] = outsiders.isEmpty ? nil : outsiders
        }
    }
}
