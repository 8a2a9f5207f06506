#if XML
public import NetKit

/// The content types of XML (RFC 7303).
let xmlTypes = ["application/xml", "text/xml", "*+xml"]

extension Decoding where Value == XMLDocument {
    /// Decodes an XML body to a tree.
    public static var xml: Decoding { xml(XMLRules()) }

    /// Decodes an XML body to a tree, within these rules. A charset in the Content-Type takes precedence over the XML
    /// declaration.
    public static func xml(_ rules: XMLRules) -> Decoding {
        Decoding(types: xmlTypes) { response in
            try XMLDocument(response.bytes, charset: response.xmlCharset, rules: rules)
        }
    }
}

extension Decoding where Value == [XMLEvent] {
    /// Decodes an XML body to a list of events.
    public static var xmlEvents: Decoding { xmlEvents(XMLRules()) }

    /// Decodes an XML body to a list of events, within these rules. To read events while they arrive, use
    /// ``NetKit/Agent/xmlEvents(_:rules:)``.
    public static func xmlEvents(_ rules: XMLRules) -> Decoding {
        Decoding(types: xmlTypes) { response in
            let parser = try XMLParser(charset: response.xmlCharset, rules: rules)
            return try parser.feed(response.bytes) + parser.finish()
        }
    }
}

extension Request where Value == XMLDocument {
    /// Creates a request for an XML body that is decoded to a tree. Accepts statuses from 200 to 299 and the types
    /// application/xml, text/xml and *+xml.
    public init(
        _ url: String, method: Method = .get, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(url, method: method, parameters: parameters, headers: headers, body: body, decoding: .xml)
    }
}

extension Request where Value == [XMLEvent] {
    /// Creates a request for an XML body that is decoded to events. Accepts statuses from 200 to 299 and the types
    /// application/xml, text/xml and *+xml.
    public init(
        _ url: String, method: Method = .get, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(url, method: method, parameters: parameters, headers: headers, body: body, decoding: .xmlEvents)
    }
}

extension Response where Value == Bytes {
    fileprivate var xmlCharset: String? { headers["Content-Type"].flatMap(charsetName) }
}
#endif
