/// The client's own certificate and its key, shown to the origin of the request's URL alone. No description shows it.
public struct ClientIdentity: Sendable, Hashable {
    enum Source: Sendable, Hashable {
        case files(certificate: String, key: String)
        case texts(certificate: [UInt8], key: [UInt8])
    }

    let source: Source
    let password: String

    /// A certificate and its chain in a PEM file, the leaf first.
    ///
    /// - Parameters:
    ///   - key: the key's PEM file; nil: it stands in the same file.
    ///   - password: the key's pass phrase.
    public static func file(certificate: String, key: String? = nil, password: String? = nil) -> ClientIdentity {
        ClientIdentity(source: .files(certificate: certificate, key: key ?? ""), password: password ?? "")
    }

    /// A certificate and its chain as PEM text, the leaf first.
    ///
    /// - Parameters:
    ///   - key: the key's PEM text; nil: it stands in the same text.
    ///   - password: the key's pass phrase.
    public static func pem(certificate: [UInt8], key: [UInt8]? = nil, password: String? = nil) -> ClientIdentity {
        ClientIdentity(source: .texts(certificate: certificate, key: key ?? []), password: password ?? "")
    }
}

extension ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Nothing that is secret.
    public var description: String { "ClientIdentity" }

    /// Nothing that is secret.
    public var debugDescription: String { description }

    /// Nothing, so that `dump` tells nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
