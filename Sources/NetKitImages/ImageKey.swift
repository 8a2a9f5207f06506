import NetKit

/// The key of a cached image. Keys compare component by component, so different requests and names never collide.
public struct ImageKey: Sendable, Hashable {
    private enum Kind: Sendable, Hashable {
        case name([UInt8])
        case request(url: [UInt8], fields: [[[UInt8]]], options: ImageOptions, variant: [UInt8]?)
    }

    // Bytes: strings that String treats as equal may be different URLs to a server.
    private let kind: Kind

    /// Creates a key from a name. It never equals the key of a request.
    public init(name: String) {
        kind = .name(Array(name.utf8))
    }

    /// Creates a key from a request's URL, fields, decoding options and variant. The order of fields with different
    /// names is ignored, and so is the case of names.
    public init(_ request: ImageRequest) {
        var fields: [[[UInt8]]] = []
        for field in request.headers {
            let (name, value) = (Array(field.name.lowercased().utf8), Array(field.bytes))
            if let place = fields.firstIndex(where: { $0[0] == name }) {
                fields[place].append(value)
            } else {
                fields.append([name, value])
            }
        }
        if fields.count > 1 {
            fields.sort { $0[0].lexicographicallyPrecedes($1[0]) }
        }
        var options = request.options
        if options.scale.isNaN {
            options.scale = 0  // NaN is invalid too, but does not equal itself.
        }
        kind = .request(
            url: Array(request.url.utf8), fields: fields, options: options,
            variant: request.variant.map { Array($0.utf8) })
    }
}
