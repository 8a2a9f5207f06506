/// The client's own certificate and its key, shown to the origin of the request's URL alone. No description shows it.
public struct ClientIdentity: Sendable, Hashable {
    enum Source: Sendable, Hashable {
        case files(certificate: String, key: String)
        case texts(certificate: [UInt8], key: [UInt8])
    }

    /// Who knows a pass phrase. Two of them are never the same one.
    public final class PassPhrase: Sendable, Hashable {
        let ask: @Sendable () -> String?

        /// Asked on a worker thread, where it may wait for a person, each time that the certificate is read; nil gives up.
        public init(_ ask: @escaping @Sendable () -> String?) {
            self.ask = ask
        }

        /// Whether both are the same one.
        public static func == (left: PassPhrase, right: PassPhrase) -> Bool { left === right }

        /// By identity.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(ObjectIdentifier(self))
        }
    }

    let source: Source
    let password: String
    let passPhrase: PassPhrase?

    /// A certificate and its chain in a PEM file, the leaf first, or in a PKCS#12 file with its key.
    ///
    /// - Parameters:
    ///   - certificate: the file's path.
    ///   - key: the key's PEM file; nil: it stands in the same file.
    ///   - password: the key's pass phrase.
    ///   - passPhrase: asked when it is needed and `password` is nil.
    public static func file(
        certificate: String, key: String? = nil, password: String? = nil, passPhrase: PassPhrase? = nil
    ) -> ClientIdentity {
        ClientIdentity(
            source: .files(certificate: certificate, key: key ?? ""), password: password ?? "", passPhrase: passPhrase)
    }

    /// A certificate and its chain as PEM text, the leaf first, or as PKCS#12 with its key.
    ///
    /// - Parameters:
    ///   - certificate: the text or the archive.
    ///   - key: the key's PEM text; nil: it stands in the same text.
    ///   - password: the key's pass phrase.
    ///   - passPhrase: asked when it is needed and `password` is nil.
    public static func pem(
        certificate: [UInt8], key: [UInt8]? = nil, password: String? = nil, passPhrase: PassPhrase? = nil
    ) -> ClientIdentity {
        ClientIdentity(
            source: .texts(certificate: certificate, key: key ?? []), password: password ?? "", passPhrase: passPhrase)
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
