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
}
