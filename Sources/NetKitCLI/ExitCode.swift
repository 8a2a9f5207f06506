import NetKit

/// The exit codes of nk. They are the same as in curl where curl has a corresponding code. Codes from 100 are specific
/// to nk.
enum ExitCode {
    static let success: Int32 = 0
    static let badScheme: Int32 = 1
    static let usage: Int32 = 2
    static let badURL: Int32 = 3
    static let badProxy: Int32 = 5
    static let badProxyScheme: Int32 = 7
    static let badStatus: Int32 = 22
    static let write: Int32 = 23
    static let read: Int32 = 26
    static let badAddress: Int32 = 49
    static let tooLarge: Int32 = 63
    static let pinMismatch: Int32 = 90
    /// A step of the demonstration had an unexpected outcome.
    static let demo: Int32 = 1

    private static let `internal`: Int32 = 100
    private static let resources: Int32 = 101
    private static let other: Int32 = 102
    private static let badJSON: Int32 = 103
    private static let shapeMismatch: Int32 = 104
    static let badType: Int32 = 105
    private static let badDigest: Int32 = 106
    private static let notCached: Int32 = 107
    private static let badImage: Int32 = 108
    private static let badHandshake: Int32 = 109
    private static let badFrame: Int32 = 110
    /// A WebSocket was closed with a code that is not an orderly end, or ended without a close frame.
    static let abnormalClose: Int32 = 111
    /// `nk validate` found an invalid text.
    static let invalid: Int32 = 1

    private static let table: [NetError.Code: Int32] = [
        // Usage.
        .usage: usage, .badMethod: usage, .badHeader: usage, .tooLarge: usage,
        .badParameter: usage, .badPart: read, .badPin: usage, .badShape: usage,
        .badURL: badURL, .badScheme: badScheme, .unsupported: 4, .closed: other, .bodyLength: read, .notRewindable: 65,
        // Resources.
        .noMemory: 27, .file: read, .descriptors: resources, .thread: resources,
        // The response.
        .badResponse: 8, .badCoding: 61, .headTooLarge: 56, .bodyTooLarge: tooLarge, .badRedirect: 3,
        .badImage: badImage, .badJSON: badJSON, .shapeMismatch: shapeMismatch, .contentType: badType,
        .status: badStatus, .digestMismatch: badDigest, .badRange: 33,
        .upgradeRefused: badHandshake, .badUpgrade: badHandshake, .badFrame: badFrame, .badText: badFrame,
        .badDeflate: badFrame, .frameFlood: badFrame, .messageTooLarge: tooLarge, .closedByServer: abnormalClose,
        .peerTimeout: 28,
        // Trust.
        .tlsHandshake: 35, .tlsUntrusted: 60, .tlsExpired: 60, .tlsNotYetValid: 60, .tlsName: 60,
        .tlsCertificate: 60, .tlsRoots: 77, .tlsBackend: 4, .tlsIdentity: 58,
        .authentication: 94, .pinMismatch: pinMismatch, .plaintextRefused: 1, .tlsRevoked: 60, .tlsStaple: 91,
        // The network.
        .resolve: 6, .connect: 7, .refused: 7, .unreachable: 7, .reset: 56, .cutShort: 18, .emptyReply: 52,
        .send: 55, .receive: 56, .http2: 16, .http3: 95, .proxy: 97,
        .connectTimeout: 28, .firstByteTimeout: 28, .idleTimeout: 28, .timeout: 28, .slotTimeout: 28,
        // Control.
        .cancelled: 42, .stoppedByCaller: 42, .tooManyRedirects: 47, .redirectRefused: 1, .internal: `internal`,
        .bodySource: read, .notCached: notCached,
    ]

    /// Returns the exit code for an error.
    ///
    /// An error code of the library may correspond to several codes of curl. A connection reset, for example, is 55
    /// while sending, 56 while receiving and 35 during a handshake. For network errors, the native code is a CURLcode
    /// and is used directly. The native codes of other errors may be something else.
    static func of(_ error: NetError) -> Int32 {
        let isNetwork = (100...110).contains(error.code.rawValue) && (1...99).contains(error.nativeCode)
        // In curl, a response that is not HTTP, or has an unsupported version, is 1, and a response with malformed
        // chunks is 56.
        let isReply = error.code == .badResponse && [1, 56].contains(error.nativeCode)
        return isNetwork || isReply ? Int32(error.nativeCode) : table[error.code] ?? other
    }
}
