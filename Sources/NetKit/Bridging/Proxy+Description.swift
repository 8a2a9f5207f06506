internal import CNetCore

extension Credentials {
    /// The bytes that the texts need.
    var textBytes: Int { user.utf8.count + password.utf8.count + token.utf8.count }

    /// Returns the C value of the credentials, which is valid as long as the text.
    func cValue(in text: inout TextSpace) -> nc_credentials {
        unsafe nc_credentials(
            schemes: schemes.rawValue, user: text.put(user), password: text.put(password), token: text.put(token))
    }
}

extension Proxy {
    private var exceptList: String { except.joined(separator: ",") }

    private var url: String? {
        if case .url(let url) = choice { url } else { nil }
    }

    /// The bytes that the texts need.
    var textBytes: Int {
        (url?.utf8.count ?? 0) + exceptList.utf8.count + headers.list.textBytes + (credentials?.textBytes ?? 0)
    }

    /// Calls `body` with the C value of the proxy, which is valid during the call.
    func withDescription<Result>(
        in text: inout TextSpace, _ body: (UnsafePointer<nc_proxy>, inout TextSpace) -> Result
    ) -> Result {
        unsafe text.withFields(headers.list) { fields, text in
            var proxy = unsafe nc_proxy()
            switch choice {
            case .direct: unsafe proxy.choice = .NC_PROXY_NONE
            case .environment: unsafe proxy.choice = .NC_PROXY_ENVIRONMENT
            case .url(let url):
                unsafe proxy.choice = .NC_PROXY_URL
                unsafe proxy.url = text.put(url)
            }
            unsafe proxy.except = text.put(exceptList)
            unsafe proxy.headers = UnsafePointer(fields.baseAddress)
            unsafe proxy.header_count = fields.count
            unsafe proxy.uses_tunnel = usesTunnel
            if let credentials {
                unsafe proxy.credentials = credentials.cValue(in: &text)
            }
            return unsafe body(&proxy, &text)
        }
    }
}

extension Proxy? {
    /// Does the same for an optional proxy; NULL for `nil`.
    func withDescription<Result>(
        in text: inout TextSpace, _ body: (UnsafePointer<nc_proxy>?, inout TextSpace) -> Result
    ) -> Result {
        guard let self else { return unsafe body(nil, &text) }
        return unsafe self.withDescription(in: &text) { proxy, text in unsafe body(proxy, &text) }
    }
}
