import NetKit

/// What an image is kept under. Keys are compared piece by piece, so no two requests and no name can be taken for each
/// other, however they are spelled.
public struct ImageKey: Sendable, Hashable {
    private enum Kind: Sendable, Hashable {
        case name([UInt8])
        case request(url: [UInt8], fields: [[[UInt8]]], options: ImageOptions, variant: [UInt8]?)
    }

    // By bytes: texts that look the same are the same to String, and other URLs to a server.
    private let kind: Kind

    /// A name of one's own; never that of a request.
    public init(name: String) {
        kind = .name(Array(name.utf8))
    }

    /// What a request asks for: its URL, its fields, how it is decoded, and its variant. The order of fields with
    /// different names, and the case of names, make no difference.
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
            options.scale = 0  // It is no scale either, and the same as itself.
        }
        kind = .request(
            url: Array(request.url.utf8), fields: fields, options: options,
            variant: request.variant.map { Array($0.utf8) })
    }
}
