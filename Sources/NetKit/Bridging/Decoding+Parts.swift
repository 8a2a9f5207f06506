extension Decoding where Value == [ResponsePart] {
    /// Decodes a whole multipart body; to read it as it arrives, see ``Agent/parts(_:limits:deciding:)``.
    public static var parts: Decoding { parts(limits: PartLimits()) }

    /// Decodes a whole multipart body within these limits.
    public static func parts(limits: PartLimits) -> Decoding {
        Decoding(types: MediaTypes.multipart) { response in
            let type = response.headers["Content-Type"] ?? ""
            let reader = try PartsReader(contentType: type, maxParts: limits.maxParts(of: type), limits: limits)
            var assembly = PartAssembly()
            var parts: [ResponsePart] = []
            var offset = 0
            while let event = try reader.next(in: response.bytes, from: &offset, into: &assembly.content) {
                if case .head(let headers) = event {
                    _ = assembly.begin(headers)
                    assembly.content = []
                } else if let part = assembly.end(event) {
                    parts.append(part)
                }
            }
            try reader.finish()
            return parts
        }
    }
}

/// A part whose content is being collected.
struct PartAssembly {
    /// `nil` if it is dropped.
    var content: [UInt8]?
    private var head = PartHead(index: -1, headers: [:])

    mutating func begin(_ headers: Headers) -> PartHead {
        head = PartHead(index: head.index + 1, headers: headers)
        content = nil
        return head
    }

    /// Returns the part if this event ends it and it was not dropped.
    mutating func end(_ event: PartsReader.Step) -> ResponsePart? {
        guard case .partEnd = event, let whole = content else { return nil }
        content = nil
        return ResponsePart(index: head.index, headers: head.headers, bytes: Bytes(whole))
    }
}
