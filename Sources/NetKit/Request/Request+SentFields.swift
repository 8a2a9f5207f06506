extension Request {
    /// The fields as they are sent: with what the body says of itself, where nothing else is named.
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

    /// What decides beside its URL who answers, as fields of a key: a host of another name, another way to the host, and
    /// a path that is sent as it stands. Most requests have none of these.
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
        // Whatever this URL holds: a redirect's may hold some.
        if keepsDotSegments {
            fields.append(Headers.Field(name: "Path-As-Is", value: "yes"))
        }
        return fields
    }

    /// What becomes of redirects, as fields of a key; none where they are followed as usual.
    var redirectFields: [Headers.Field] {
        switch redirects {
        case nil, .follow?: []
        case .followDowngrades?: [Headers.Field(name: "Redirect", value: "downgrades")]
        case .return?: [Headers.Field(name: "Redirect", value: "returned")]
        }
    }
}
