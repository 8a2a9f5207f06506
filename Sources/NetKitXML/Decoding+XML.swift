public import NetKit

/// Content types of XML (RFC 7303).
let xmlTypes = ["application/xml", "text/xml", "*+xml"]

extension Decoding where Value == XMLDocument {
    /// An XML body as a tree.
    public static var xml: Decoding { xml(XMLRules()) }

    /// An XML body as a tree, within these rules. A charset in the Content-Type takes precedence over the text's
    /// declaration.
    public static func xml(_ rules: XMLRules) -> Decoding {
        Decoding(types: xmlTypes) { response in
            try XMLDocument(response.bytes, charset: response.xmlCharset, rules: rules)
        }
    }
}

extension Decoding where Value == [XMLEvent] {
    /// An XML body as a list of events.
    public static var xmlEvents: Decoding { xmlEvents(XMLRules()) }

    /// An XML body as a list of events, within these rules. To read events as they arrive, see
    /// ``NetKit/Agent/xmlEvents(_:rules:)``.
    public static func xmlEvents(_ rules: XMLRules) -> Decoding {
        Decoding(types: xmlTypes) { response in
            let parser = try XMLParser(charset: response.xmlCharset, rules: rules)
            return try parser.feed(response.bytes) + parser.finish()
        }
    }
}

extension Request where Value == XMLDocument {
    /// Creates a request for an XML body as a tree. Accepts statuses from 200 to 299 and the types application/xml,
    /// text/xml and *+xml.
    public init(
        _ url: String, method: Method = .get, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(url, method: method, parameters: parameters, headers: headers, body: body, decoding: .xml)
    }
}

extension Request where Value == [XMLEvent] {
    /// Creates a request for an XML body as events. Accepts statuses from 200 to 299 and the types application/xml,
    /// text/xml and *+xml.
    public init(
        _ url: String, method: Method = .get, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(url, method: method, parameters: parameters, headers: headers, body: body, decoding: .xmlEvents)
    }
}

extension Response where Value == Bytes {
    fileprivate var xmlCharset: String? { headers["Content-Type"].flatMap(charsetName) }
}
