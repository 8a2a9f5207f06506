internal import CNetCore
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension TrustPolicy {
    /// Evaluates a chain like a handshake at that time, without the network, the observer and OCSP.
    ///
    /// Reads the files of authorities and revocation lists. The result for an unreadable chain is a refusal.
    /// - Parameters:
    ///   - chain: certificates as a server sends them, leaf first: PEM, or DER in sequence.
    ///   - host: the host of the URL, a name or an address.
    ///   - port: the port of the URL, 1 to 65535.
    ///   - date: the time of the handshake.
    public func evaluate(
        chain: [UInt8], host: String, port: Int = 443, at date: Date = Date()
    ) throws(NetError) -> TrustVerdict {
        let trust = try OwnedTrust(self)
        guard let number = UInt16(exactly: port), number > 0 else {
            throw NetError(.usage, "\(port) is no port")
        }
        // A date out of range is one at which no certificate is valid.
        let seconds = Int64(moment: date.timeIntervalSince1970)
        var error = nc_error()
        var verdict = nc_trust_verdict()
        let status = unsafe Bytes(chain).withSlice { chain in
            unsafe host.withSlice { host in
                var question = unsafe nc_trust_question(chain: chain, host: host, port: number, at_s: seconds)
                return unsafe nc_trust_evaluate(&verdict, trust.raw, &question, &error)
            }
        }
        if status != .NC_OK {
            throw NetError(error)
        }
        return unsafe TrustVerdict(&verdict)
    }
}
