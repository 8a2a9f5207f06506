// Descriptions of values that contain secrets. Neither `print` nor `dump` shows more than an error message does.

extension ResponseStream: CustomStringConvertible, CustomReflectable {
    /// One line: status, URL up to its query, and fields without secrets.
    public var description: String {
        "ResponseStream(status: \(status), url: \"\(String(headOnly.place).shownPath)\", headers: \(headers))"
            .printable()
    }

    /// The values of the description.
    public var customMirror: Mirror {
        Mirror(
            self, children: ["status": status, "url": String(headOnly.place).shownPath, "headers": headers],
            displayStyle: .struct
        )
    }
}

extension Request: CustomStringConvertible, CustomReflectable {
    /// One line: method, URL up to its query and without credentials, and fields without secrets.
    public var description: String {
        "Request<\(Value.self)>(\(method) \"\(url.shownPath)\", headers: \(headers))".printable()
    }

    /// The values of the description.
    public var customMirror: Mirror {
        Mirror(
            self, children: ["method": method.rawValue, "url": url.shownPath, "headers": headers],
            displayStyle: .struct)
    }
}

extension Cookie: CustomStringConvertible, CustomReflectable {
    /// The name, domain and path. The value is hidden, because it is usually a secret.
    public var description: String {
        "Cookie(\(name)=\(Redaction.mark), domain: \"\(domain)\", path: \"\(path)\")".printable()
    }

    /// Everything except the value.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "name": name, "value": Redaction.mark, "domain": domain, "includesSubdomains": includesSubdomains,
                "path": path, "expires": expires as Any, "isSecure": isSecure, "isHTTPOnly": isHTTPOnly,
            ], displayStyle: .struct)
    }
}

extension String {
    /// The URL without its query, its credentials and the secrets among its path parameters.
    var shownPath: String { Redaction().hiding(url: shownPlace) }
}
