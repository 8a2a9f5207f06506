/// An interceptor that adds what the base URL's origin alone may have, such as credentials or a signature.
///
/// Among an agent's interceptors it is left out of calls to an origin that is not the agent's, among a service's
/// interceptors of calls to an origin that is not the service's (``Agent/Configuration/trustedOrigins``). Among a
/// request's own interceptors it always takes part. Without a base URL nothing is left out.
public protocol OriginBoundInterceptor: Interceptor {}

/// Those of agent and service that add nothing to a request, because its URL is at an origin that is not theirs.
struct Outsiders: OptionSet, Sendable {
    let rawValue: UInt8

    static let agent = Outsiders(rawValue: 1)
    static let service = Outsiders(rawValue: 2)
}

private enum OutsidersNote: RequestNote {
    static let standard: Outsiders = []
}

extension Request {
    /// Those that add nothing to it.
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
