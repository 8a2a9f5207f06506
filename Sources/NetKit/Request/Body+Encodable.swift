extension Body {
    /// Returns a JSON body with an encoded value. Equal values give the same bytes in every process, so the same
    /// request has the same cache key.
    ///
    /// Members keep the order in which the value encodes them. The members of a dictionary and the elements of a `Set`
    /// are sorted. `Data` becomes Base64 and a `URL` becomes a string. The ``JSONCoding`` of the request determines the
    /// form of dates (ISO 8601 by default), the spelling of names, and the layout if `style` is `nil`.
    /// - Throws: ``NetError/Code/encoding`` with the path of a value that JSON cannot express, such as a number that
    ///   is not finite.
    @_disfavoredOverload
    public static func json(_ value: some Encodable, style: JSONStyle? = nil) throws(NetError) -> Body {
        let node = ParameterNode()
        do {
            try node.encode(value, at: [], by: .json)
        } catch {
            throw NetError(encodingJSON: error)
        }
        return try Body(jsonValue: node.parameters, style: style)
    }

    /// Creates the JSON body of an encoded value.
    init(jsonValue values: Parameters, style: JSONStyle?) throws(NetError) {
        do throws(NetError) {
            try self.init(json: values, style: style)
        } catch {
            throw error.code == .badParameter ? NetError(.encoding, error.message, underlying: error) : error
        }
    }

    /// Creates a JSON body with the default settings. It keeps the values, so that a ``JSONCoding`` can write them
    /// again.
    init(json values: Parameters, style: JSONStyle?) throws(NetError) {
        self.init(try values.jsonText(style: style ?? JSONStyle()), contentType: "application/json")
        jsonSource = JSONSource(values: values, style: style)
    }

    /// The values of a JSON body.
    final class JSONSource: Sendable {
        let values: Parameters
        /// The layout that the caller chose. If `nil`, the request's applies.
        let style: JSONStyle?

        init(values: Parameters, style: JSONStyle?) {
            self.values = values
            self.style = style
        }
    }

    /// Writes a body of ``json(_:style:)-(Encodable,_)`` again with other settings. Other bodies are unchanged.
    mutating func apply(_ coding: JSONCoding) throws(NetError) {
        guard let source = jsonSource, !coding.writesByDefault || (source.style == nil && coding.style != JSONStyle())
        else {
            return
        }
        let values = try coding.spelled(source.values)
        bytes = try values.jsonText(style: source.style ?? coding.style)
    }
}

extension NetError {
    /// Converts an error of an encoder of JSON. The message contains the path of the value, such as "a.b[2]".
    init(encodingJSON error: any Error) {
        guard case EncodingError.invalidValue(let value, let context) = error else {
            self.init(.encoding, "the value cannot be encoded as JSON: \(error)", underlying: error)
            return
        }
        let path = context.codingPath.reduce(into: "") { path, key in
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += (path.isEmpty ? "" : ".") + key.stringValue
            }
        }
        let reason = context.debugDescription.isEmpty ? "\(value)" : context.debugDescription
        self.init(.encoding, "'\(path)' cannot be encoded as JSON: \(reason)", underlying: error)
    }
}
