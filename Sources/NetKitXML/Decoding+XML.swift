public import NetKit

/// Content types of XML (RFC 7303).
let xmlTypes = ["application/xml", "text/xml", "*+xml"]

extension Decoding where Value == XMLDocument {
    /// An XML body as a tree.
    public static var xml: Decoding { xml(XMLRules()) }

    /// An XML body as a tree, as the rules say. A charset in the Content-Type counts more than the text's own.
    public static func xml(_ rules: XMLRules) -> Decoding {
        Decoding(types: xmlTypes) { response in
            try XMLDocument(response.bytes, charset: response.xmlCharset, rules: rules)
        }
    }
}

extension Decoding where Value == [XMLEvent] {
    /// An XML body as its events.
    public static var xmlEvents: Decoding { xmlEvents(XMLRules()) }

    /// An XML body as its events, as the rules say. To read them as they arrive, see ``NetKit/Agent/xmlEvents(_:rules:)``.
    public static func xmlEvents(_ rules: XMLRules) -> Decoding {
        Decoding(types: xmlTypes) { response in
            let parser = try XMLParser(charset: response.xmlCharset, rules: rules)
            return try parser.feed(response.bytes) + parser.finish()
        }
    }
}

extension Request where Value == XMLDocument {
    /// Asks for an XML body as a tree; statuses from 200 to 299, types application/xml, text/xml and *+xml.
    public init(
        _ url: String, method: Method = .get, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(url, method: method, parameters: parameters, headers: headers, body: body, decoding: .xml)
    }
}

extension Request where Value == [XMLEvent] {
    /// Asks for an XML body as its events; statuses from 200 to 299, types application/xml, text/xml and *+xml.
    public init(
        _ url: String, method: Method = .get, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(url, method: method, parameters: parameters, headers: headers, body: body, decoding: .xmlEvents)
    }
}

extension Response where Value == Bytes {
    fileprivate var xmlCharset: String? { headers["Content-Type"].flatMap(charsetName) }
}
