extension Request {
    /// The fields as sent: with the body's own fields, unless the request sets them.
    package var sentFields: Headers {
        guard let body else { return headers }
        var fields = headers
        if let type = body.contentType, fields["Content-Type"] == nil {
            fields.append(name: "Content-Type", value: type)
        }
        if let coding = body.contentEncoding, fields["Content-Encoding"] == nil {
            fields.append(name: "Content-Encoding", value: coding)
        }
        return fields
    }

    /// Fields of a cache key for everything besides the URL that selects the responding server. They cover a Host
    /// field, another route to the host, and a path that is sent unchanged. Empty for most requests.
    var wayFields: [Headers.Field] {
        var fields = headers.hasAny(["Host"]) ? headers.only(["Host"]) : []
        if let unixSocket {
            fields.append(Headers.Field(name: "Unix-Socket", value: unixSocket))
        }
        for override in addressOverrides {
            let ends = [
                override.host ?? "", override.port.map { "\($0)" } ?? "", override.toHost ?? "",
                override.toPort.map { "\($0)" } ?? "",
            ]
            fields.append(Headers.Field(name: "Connect-To", value: ends.joined(separator: " ")))
        }
        // Independent of this URL: that of a redirect may contain dot segments.
        if keepsDotSegments {
            fields.append(Headers.Field(name: "Path-As-Is", value: "yes"))
        }
        return fields
    }

    /// Fields of a cache key for the redirect policy; empty for the default policy.
    var redirectFields: [Headers.Field] {
        switch redirects {
        case nil, .follow?: []
        case .followDowngrades?: [Headers.Field(name: "Redirect", value: "downgrades")]
        case .return?: [Headers.Field(name: "Redirect", value: "returned")]
        }
    }
}
