#if Images
import NetKit

/// The key of a cached image. Keys are compared by their components and not as joined text, so keys of different
/// requests or names are never equal.
public struct ImageKey: Sendable, Hashable {
    private enum Kind: Sendable, Hashable {
        case name([UInt8])
        case request(url: [UInt8], fields: [[[UInt8]]], options: ImageOptions, variant: [UInt8]?)
    }

    // Texts are stored as bytes, because a server may treat canonically equivalent strings as different URLs.
    private let kind: Kind

    /// Creates a key from a name. It never equals the key of a request.
    public init(name: String) {
        kind = .name(Array(name.utf8))
    }

    /// Creates a key from the URL, header fields, decoding options and variant of a request. The case of field names is
    /// ignored, and so is the order of fields with different names.
    public init(_ request: ImageRequest) {
        var fields: [[[UInt8]]] = []
        for field in request.headers {
            let (name, value) = (Array(field.name.lowercased().utf8), Array(field.bytes))
            if let index = fields.firstIndex(where: { $0[0] == name }) {
                fields[index].append(value)
            } else {
                fields.append([name, value])
            }
        }
        if fields.count > 1 {
            fields.sort { $0[0].lexicographicallyPrecedes($1[0]) }
        }
        var options = request.options
        if options.scale.isNaN {
            options.scale = 0  // NaN would make the key unequal to itself. Both values are invalid scales.
        }
        kind = .request(
            url: Array(request.url.utf8), fields: fields, options: options,
            variant: request.variant.map { Array($0.utf8) })
    }
}
#endif
