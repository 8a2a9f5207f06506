import NetKit

/// What an image is kept under. Keys are compared piece by piece, so no two requests and no name can be taken for each
/// other, however they are spelled.
public struct ImageKey: Sendable, Hashable {
    private enum Kind: Sendable, Hashable {
        case name(String)
        case request(url: String, fields: [[String]], options: ImageOptions, variant: String?)
    }

    private let kind: Kind

    /// A name of one's own; never that of a request.
    public init(name: String) {
        kind = .name(name)
    }

    /// What a request asks for: its URL, its fields, how it is decoded, and its variant. The order of fields with
    /// different names, and the case of names, make no difference.
    public init(_ request: ImageRequest) {
        var fields: [[String]] = []
        for field in request.headers {
            let name = field.name.lowercased()
            if let place = fields.firstIndex(where: { $0[0] == name }) {
                fields[place].append(field.value)
            } else {
                fields.append([name, field.value])
            }
        }
        if fields.count > 1 {
            fields.sort { $0[0] < $1[0] }
        }
        kind = .request(url: request.url, fields: fields, options: request.options, variant: request.variant)
    }
}
