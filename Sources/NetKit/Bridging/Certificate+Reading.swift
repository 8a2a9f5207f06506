internal import CNetCore
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension Certificate {
    /// Reads PEM, or DER certificates in sequence: at most 100 certificates and 1 MiB.
    ///
    /// - Throws: `tlsCertificate` if there is none, or if one cannot be read.
    public static func read(_ bytes: [UInt8]) throws(NetError) -> [Certificate] {
        var error = nc_error()
        var made: OpaquePointer?
        let status = unsafe Bytes(bytes).withSlice { unsafe nc_certificates_read(&made, $0, &error) }
        guard status == .NC_OK, let made = unsafe made else { throw NetError(error) }
        // SAFETY: include/netcore/certificate.h: the result is owned here, and its contents are borrowed from it.
        defer { unsafe nc_certificates_free(made) }
        return (0..<(unsafe nc_certificates_count(made))).map { index in
            unsafe Certificate(nc_certificates_at(made, index))
        }
    }

    private init(_ said: nc_certificate) {
        func date(_ seconds: Int64) -> Date? {
            seconds == .min ? nil : Date(timeIntervalSince1970: Double(seconds))
        }
        self.init(
            subject: unsafe said.subject.text, issuer: unsafe said.issuer.text, names: unsafe said.names.text,
            key: unsafe said.key.text, begins: unsafe date(said.begins_at_s), ends: unsafe date(said.ends_at_s),
            isAuthority: unsafe said.is_authority,
            pin: unsafe withUnsafeBytes(of: said.pin) { unsafe String(nulTerminated: $0) },
            der: unsafe said.der.copy)
    }
}

extension nc_slice {
    /// A copy of the bytes.
    var copy: [UInt8] {
        guard let data = unsafe self.data else { return [] }
        return unsafe Array(UnsafeBufferPointer(start: data, count: length))
    }
}

extension String {
    /// Creates a String from C text, up to its NUL or the end.
    init(nulTerminated bytes: UnsafeRawBufferPointer) {
        unsafe self.init(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
