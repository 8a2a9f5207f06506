// What values with secrets in them say of themselves, so that neither `print` nor `dump` tells more than a message would.

extension ResponseStream: CustomStringConvertible, CustomReflectable {
    /// One line: status, URL up to its query, and fields without secrets.
    public var description: String {
        "ResponseStream(status: \(status), url: \"\(String(headOnly.place).shownPath)\", headers: \(headers))"
            .printable()
    }

    /// The same.
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

    /// The same.
    public var customMirror: Mirror {
        Mirror(
            self, children: ["method": method.rawValue, "url": url.shownPath, "headers": headers],
            displayStyle: .struct)
    }
}

extension Cookie: CustomStringConvertible, CustomReflectable {
    /// Name and place; the value is a secret more often than not.
    public var description: String {
        "Cookie(\(name)=\(Redaction.mark), domain: \"\(domain)\", path: \"\(path)\")".printable()
    }

    /// All but the value.
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
    /// A URL up to its query, without credentials and without secrets among the parameters of its path.
    var shownPath: String { Redaction().hiding(url: shownPlace) }
}
