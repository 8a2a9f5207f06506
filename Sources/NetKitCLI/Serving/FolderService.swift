import NetKit

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Serves the files of a directory.
final class FolderService: Serving {
    private let folder: ServedFolder
    private let log: @Sendable (String) -> Void

    /// - Parameter log: called with a line for each request.
    init(_ folder: ServedFolder, log: @escaping @Sendable (String) -> Void) {
        self.folder = folder
        self.log = log
    }

    func reply(to request: ServedRequest?, connection: Int) -> ServedReply {
        guard let request else { return .page(431, "the head is too large") }
        var reply = reply(to: request)
        // A server with a clock sends Date (RFC 9110, 6.6.1). Caches compute a response's age from it.
        reply.headers["Date"] = HTTPDate.text(ofEpochSeconds: Int64(Date().timeIntervalSince1970))
        log("\(reply.status) \(request.method) \(request.target) \(reply.bodyLength)")
        return reply
    }

    func received(_ bytes: [UInt8], of length: Int, connection: Int) {}

    func replied(connection: Int) {}

    private func reply(to request: ServedRequest) -> ServedReply {
        guard ["GET", "HEAD"].contains(request.method) else {
            var reply = ServedReply.page(405, "\(request.method) is not answered here")
            reply.headers["Allow"] = "GET, HEAD"
            return reply
        }
        guard let segments = ServedRequest.segments(of: request.path) else {
            return .page(400, "this path cannot be decoded")
        }
        // "/a/." and "/a/.." are directories, like "/a/".
        let last = request.path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        let asksForFolder = last.isEmpty || ServedRequest.segments(of: String(last)) == []
        switch folder.entry(segments) {
        case .file(let file): return asksForFolder ? Self.missing : reply(with: file, segments, request)
        case .folder: return asksForFolder ? page(of: segments, request) : Self.moved(segments, request)
        case .forbidden: return .page(403, "this may not be read")
        case .nothing: return Self.missing
        }
    }

    private static var missing: ServedReply { .page(404, "there is nothing here") }

    private static func moved(_ segments: [String], _ request: ServedRequest) -> ServedReply {
        var reply = ServedReply.page(301, "this is a folder")
        let path = "/" + segments.map { Percent.encoded($0) + "/" }.joined()
        reply.headers["Location"] = path + (request.query.map { "?\($0)" } ?? "")
        return reply
    }

    /// Returns the directory's index page, or its listing.
    private func page(of segments: [String], _ request: ServedRequest) -> ServedReply {
        let index = segments + ["index.html"]
        if case .file(let file) = folder.entry(index) {
            return reply(with: file, index, request)
        }
        guard let names = folder.names(in: segments) else { return .page(403, "this may not be read") }
        var reply = ServedReply()
        reply.headers["Content-Type"] = "text/html; charset=utf-8"
        reply.body = .bytes(Array(FolderPage.text(of: segments, names).utf8))
        return reply
    }

    private func reply(with file: ServedFile, _ segments: [String], _ request: ServedRequest) -> ServedReply {
        let conditions = FileConditions(tag: "\"\(file.tag)\"", modified: file.modified, length: file.length)
        var reply = ServedReply()
        reply.headers["ETag"] = conditions.tag
        // A time that no date can express is omitted; the entity tag is always sent.
        if HTTPDate.writableSeconds.contains(file.modified) {
            reply.headers["Last-Modified"] = HTTPDate.text(ofEpochSeconds: file.modified)
        }
        reply.headers["Accept-Ranges"] = "bytes"
        switch conditions.outcome(request.headers, isGet: request.method == "GET") {
        case .whole: reply.body = .file(file, offset: 0, length: file.length)
        case .part(let first, let length):
            reply.status = 206
            reply.headers["Content-Range"] = "bytes \(first)-\(first + length - 1)/\(file.length)"
            reply.body = .file(file, offset: first, length: length)
        case .notModified:
            reply.status = 304
            return reply
        case .preconditionFailed: return .page(412, "the file is another one")
        case .unsatisfiable:
            var reply = ServedReply.page(416, "the file has no such bytes")
            reply.headers["Content-Range"] = "bytes */\(file.length)"
            return reply
        }
        reply.headers["Content-Type"] = FileType.of(segments.last ?? "")
        reply.headers["X-Content-Type-Options"] = "nosniff"
        return reply
    }
}

/// The listing of a directory as a page.
enum FolderPage {
    static func text(of segments: [String], _ names: [String]) -> String {
        let title = escaped("/" + segments.map { $0 + "/" }.joined())
        let up = segments.isEmpty ? [] : ["<li><a href=\"../\">../</a>"]
        let rows = names.map { name in
            let isFolder = name.hasSuffix("/")
            let link = Percent.encoded(isFolder ? String(name.dropLast()) : name) + (isFolder ? "/" : "")
            // "./" prevents that a name such as "a:b" is parsed as a scheme.
            return "<li><a href=\"./\(link)\">\(escaped(name))</a>"
        }
        return """
            <!DOCTYPE html>
            <html lang="en"><meta charset="utf-8"><title>\(title)</title>
            <h1>\(title)</h1>
            <ul>
            \((up + rows).joined(separator: "\n"))
            </ul></html>

            """
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
