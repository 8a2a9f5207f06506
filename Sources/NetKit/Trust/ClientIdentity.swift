/// A client certificate with its key. It is sent to the origin of the request's URL only, and no description contains
/// it.
public struct ClientIdentity: Sendable, Hashable {
    enum Source: Sendable, Hashable {
        case files(certificate: String, key: String)
        case texts(certificate: [UInt8], key: [UInt8])
    }

    /// A source of a pass phrase. Two sources are never equal.
    public final class PassPhrase: Sendable, Hashable {
        let ask: @Sendable () -> String?

        /// Creates a source. `ask` is called on a worker thread, where it may wait for the user, each time the
        /// certificate is read; `nil` gives up.
        public init(_ ask: @escaping @Sendable () -> String?) {
            self.ask = ask
        }

        /// Returns true if both are the same object.
        public static func == (left: PassPhrase, right: PassPhrase) -> Bool { left === right }

        /// Hashes the identity of the object.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(ObjectIdentifier(self))
        }
    }

    let source: Source
    let password: String
    let passPhrase: PassPhrase?

    /// Returns the certificate and its chain in a PEM file, leaf first, or in a PKCS#12 file with its key.
    ///
    /// - Parameters:
    ///   - certificate: the file's path.
    ///   - key: the PEM file of the key; `nil` if the certificate's file contains it.
    ///   - password: the key's pass phrase.
    ///   - passPhrase: called for the pass phrase if `password` is `nil`.
    public static func file(
        certificate: String, key: String? = nil, password: String? = nil, passPhrase: PassPhrase? = nil
    ) -> ClientIdentity {
        ClientIdentity(
            source: .files(certificate: certificate, key: key ?? ""), password: password ?? "", passPhrase: passPhrase)
    }

    /// Returns a certificate and its chain from PEM text, leaf first, or from PKCS#12 with its key.
    ///
    /// - Parameters:
    ///   - certificate: the text or the archive.
    ///   - key: the PEM text of the key; `nil` if the certificate's text contains it.
    ///   - password: the key's pass phrase.
    ///   - passPhrase: called for the pass phrase if `password` is `nil`.
    public static func pem(
        certificate: [UInt8], key: [UInt8]? = nil, password: String? = nil, passPhrase: PassPhrase? = nil
    ) -> ClientIdentity {
        ClientIdentity(
            source: .texts(certificate: certificate, key: key ?? []), password: password ?? "", passPhrase: passPhrase)
    }
}

extension ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The type's name, without secrets.
    public var description: String { "ClientIdentity" }

    /// The type's name, without secrets.
    public var debugDescription: String { description }

    /// An empty mirror, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
