import NetKit

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Serves the files of a directory.
final class FolderService: RequestHandler {
    private let folder: ServedFolder
    private let log: @Sendable (String) -> Void

    /// - Parameter log: called with a line for each request.
    init(_ folder: ServedFolder, log: @escaping @Sendable (String) -> Void) {
        self.folder = folder
        self.log = log
    }

    func reply(to request: ServedRequest?, connection: Int) -> ServedReply {
        guard let request else { return .page(431, "the request header is too large") }
        var reply = reply(to: request)
        // A server with a clock must send Date (RFC 9110, 6.6.1). Caches compute the age of a response from it.
        reply.headers["Date"] = HTTPDate.text(ofEpochSeconds: Int64(Date().timeIntervalSince1970))
        log("\(reply.status) \(request.method) \(request.target) \(reply.bodyLength)")
        return reply
    }

    func received(_ bytes: [UInt8], of length: Int, connection: Int) {}

    func replied(connection: Int) {}

    private func reply(to request: ServedRequest) -> ServedReply {
        guard ["GET", "HEAD"].contains(request.method) else {
            var reply = ServedReply.page(405, "method \(request.method) is not allowed")
            reply.headers["Allow"] = "GET, HEAD"
            return reply
        }
        guard let segments = ServedRequest.segments(of: request.path) else {
            return .page(400, "the path is not valid")
        }
        // Like "/a/", paths such as "/a/." and "/a/.." can denote only directories.
        let last = request.path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        let isFolderPath = last.isEmpty || ServedRequest.segments(of: String(last)) == []
        switch folder.entry(segments) {
        case .file(let file): return isFolderPath ? Self.notFound : reply(with: file, segments, request)
        case .folder: return isFolderPath ? page(of: segments, request) : Self.redirectToFolder(segments, request)
        case .forbidden: return .page(403, "permission denied")
        case .nothing: return Self.notFound
        }
    }

    private static var notFound: ServedReply { .page(404, "not found") }

    private static func redirectToFolder(_ segments: [String], _ request: ServedRequest) -> ServedReply {
        var reply = ServedReply.page(301, "moved to the directory's URL")
        let path = "/" + segments.map { Percent.encoded($0) + "/" }.joined()
        reply.headers["Location"] = path + (request.query.map { "?\($0)" } ?? "")
        return reply
    }

    /// Returns the file index.html of a directory or, if there is none, a listing of the directory.
    private func page(of segments: [String], _ request: ServedRequest) -> ServedReply {
        let index = segments + ["index.html"]
        if case .file(let file) = folder.entry(index) {
            return reply(with: file, index, request)
        }
        guard let names = folder.names(in: segments) else { return .page(403, "permission denied") }
        var reply = ServedReply()
        reply.headers["Content-Type"] = "text/html; charset=utf-8"
        reply.body = .bytes(Array(FolderPage.text(of: segments, names).utf8))
        return reply
    }

    private func reply(with file: ServedFile, _ segments: [String], _ request: ServedRequest) -> ServedReply {
        let conditions = FileConditions(tag: "\"\(file.tag)\"", modified: file.modified, length: file.length)
        var reply = ServedReply()
        reply.headers["ETag"] = conditions.tag
        // Last-Modified is omitted if a date cannot express the time. The entity tag is always sent.
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
        case .preconditionFailed: return .page(412, "the file does not match the condition")
        case .unsatisfiable:
            var reply = ServedReply.page(416, "the range is outside the file")
            reply.headers["Content-Range"] = "bytes */\(file.length)"
            return reply
        }
        reply.headers["Content-Type"] = FileType.of(segments.last ?? "")
        reply.headers["X-Content-Type-Options"] = "nosniff"
        return reply
    }
}

/// Creates the HTML page with the listing of a directory.
enum FolderPage {
    static func text(of segments: [String], _ names: [String]) -> String {
        let title = escaped("/" + segments.map { $0 + "/" }.joined())
        let parentRow = segments.isEmpty ? [] : ["<li><a href=\"../\">../</a>"]
        let rows = names.map { name in
            let isFolder = name.hasSuffix("/")
            let link = Percent.encoded(isFolder ? String(name.dropLast()) : name) + (isFolder ? "/" : "")
            // Without "./", a browser would parse a name such as "a:b" as a URL with a scheme.
            return "<li><a href=\"./\(link)\">\(escaped(name))</a>"
        }
        return """
            <!DOCTYPE html>
            <html lang="en"><meta charset="utf-8"><title>\(title)</title>
            <h1>\(title)</h1>
            <ul>
            \((parentRow + rows).joined(separator: "\n"))
            </ul></html>

            """
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
