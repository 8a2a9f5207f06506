/// What a request asks for, but for its fields and for how the answer is read.
struct RequestContent: Sendable {
    var method: Method
    var url: String
    var body: Body?
    var limits: Limits?
    var redirects: RedirectPolicy?
    var trust: TrustPolicy?
    var protocolChoice = ProtocolChoice.automatic
    var acceptsCodings = true
    var addressOverrides: [AddressOverride] = []
    var credentials: Credentials?
    var proxy: Proxy?
    var unixSocket: String?
    var priority = Priority.normal
    var ignoresCookies = false
    var keepsDotSegments = false
    var expectsContinue = false
    var progress: (@Sendable (TransferProgress) -> Void)?
    var streamBufferBytes = 256 << 10
    var savePath: String?
    var acceptedStatuses: Range<Int>?
}

/// A content behind one reference: a request is handed on a dozen times on its way to the engine, and to copy all of a
/// content each time costs more than the rest of that way.
final class KeptContent: Sendable {
    let value: RequestContent

    init(_ value: RequestContent) {
        self.value = value
    }
}
