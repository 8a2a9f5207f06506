#if XML
internal import CNetXML
public import NetKit

/// A push parser for XML. It corresponds to AFNetworking's `AFXMLParserResponseSerializer`, but returns events instead
/// of calling a delegate.
///
///     let parser = try XMLParser()
///     for event in try parser.feed(bytes) { … }
///     for event in try parser.finish() { … }
///
/// The events do not depend on how the text is divided into chunks. After an error, ``takeEvents()`` returns the events
/// before the error. Confined: one thread at a time.
@safe public final class XMLParser {
    // SAFETY: netxml.h: a parser is confined to one thread at a time. So is this class, because it is not Sendable. The
    // parser is created in init and freed in deinit.
    private let raw: OpaquePointer
    // The parser calls this object, so it must live until the parser is freed.
    private let collector: Collector

    /// Creates a parser.
    ///
    /// Throws `NetError.Code.badCharset` for an unknown charset, and `usage` for rules that are out of range.
    /// - Parameters:
    ///   - charset: the charset, if it is known from another source such as a Content-Type. A byte order mark takes
    ///     precedence.
    ///   - rules: the limits of the XML text.
    public init(charset: String? = nil, rules: XMLRules = XMLRules()) throws(NetError) {
        guard rules.maxBytes > 0, rules.maxTokenBytes > 0, (1...256).contains(rules.maxDepth) else {
            throw NetError(.usage, "a limit of the XML rules is out of range")
        }
        let collector = Collector()
        let context = unsafe Unmanaged.passUnretained(collector)
        var options = unsafe nc_xml_options()
        unsafe options.max_bytes = rules.maxBytes
        unsafe options.max_token_bytes = rules.maxTokenBytes
        unsafe options.max_depth = rules.maxDepth
        var raw: OpaquePointer?
        var error = nc_xml_error()
        let status =
            if let charset {
                unsafe charset.withCString { name in
                    unsafe options.charset = unsafe name
                    return unsafe nc_xml_parser_new(&raw, &options, collect, context.toOpaque(), &error)
                }
            } else {
                unsafe nc_xml_parser_new(&raw, &options, collect, context.toOpaque(), &error)
            }
        guard status == .NC_XML_OK, let raw = unsafe raw else { throw NetError(error) }
        unsafe self.raw = unsafe raw
        self.collector = collector
    }

    deinit {
        unsafe nc_xml_parser_free(raw)
    }

    /// Parses the next bytes and returns their events.
    ///
    /// Throws `NetError.Code.badXML` with line and column if the text is not well-formed, and `tooLarge` if it exceeds
    /// the rules. Each later call throws the same error.
    public func feed(_ bytes: Bytes) throws(NetError) -> [XMLEvent] {
        try feed(bytes, from: 0, to: bytes.count)
    }

    func feed(_ bytes: Bytes, from start: Int, to end: Int) throws(NetError) -> [XMLEvent] {
        var error = nc_xml_error()
        let status = bytes.withSpan { span in
            unsafe span.extracting(start..<end).withUnsafeBufferPointer { buffer in
                unsafe nc_xml_parser_feed(raw, buffer.baseAddress, buffer.count, &error)
            }
        }
        guard status == .NC_XML_OK else { throw NetError(error) }
        return takeEvents()
    }

    /// Ends the text and returns the remaining events. Throws the same errors as ``feed(_:)``.
    public func finish() throws(NetError) -> [XMLEvent] {
        var error = nc_xml_error()
        guard unsafe nc_xml_parser_finish(raw, &error) == .NC_XML_OK else { throw NetError(error) }
        return takeEvents()
    }

    /// Returns the events that were not returned yet, such as those before an error.
    public func takeEvents() -> [XMLEvent] {
        defer { collector.events = [] }
        return collector.events
    }
}

/// Collects the events of the C callbacks.
private final class Collector {
    var events: [XMLEvent] = []
}

private func collect(_ context: UnsafeMutableRawPointer?, _ event: UnsafePointer<nc_xml_event>) -> Bool {
    guard let context = unsafe context else { return false }
    unsafe Unmanaged<Collector>.fromOpaque(context).takeUnretainedValue().events.append(XMLEvent(event.pointee))
    return true
}

extension XMLEvent {
    fileprivate init(_ event: nc_xml_event) {
        switch unsafe event.kind {
        case .NC_XML_START:
            let attributes = unsafe UnsafeBufferPointer(start: event.attributes, count: event.attribute_count)
            let namespaces = unsafe UnsafeBufferPointer(start: event.namespaces, count: event.namespace_count)
            self = unsafe .start(
                XMLName(event.local, event.prefix, event.uri),
                attributes: attributes.map { attribute in
                    unsafe XMLAttribute(
                        XMLName(attribute.local, attribute.prefix, attribute.uri), attribute.value.string)
                },
                namespaces: namespaces.map { namespace in
                    unsafe XMLNamespace(prefix: namespace.local.optional, name: namespace.value.string)
                })
        case .NC_XML_END_TAG: self = unsafe .end(XMLName(event.local, event.prefix, event.uri))
        case .NC_XML_COMMENT: self = unsafe .comment(event.text.string)
        case .NC_XML_INSTRUCTION: self = unsafe .instruction(target: event.local.string, data: event.text.string)
        case .NC_XML_DOCTYPE:
            self = unsafe .documentType(
                name: event.local.string, publicID: event.prefix.optional, systemID: event.uri.optional)
        default: self = unsafe .text(event.text.string)
        }
    }
}

extension XMLName {
    fileprivate init(_ local: nc_xml_text, _ prefix: nc_xml_text, _ uri: nc_xml_text) {
        unsafe self.init(local.string, prefix: prefix.optional, namespace: uri.optional)
    }
}

extension nc_xml_text {
    fileprivate var string: String {
        unsafe String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    fileprivate var optional: String? { unsafe bytes == nil ? nil : string }
}

extension NetError {
    fileprivate init(_ error: nc_xml_error) {
        let reason = unsafe withUnsafeBytes(of: error.message) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        let position = error.line == 0 ? "" : "line \(error.line), column \(error.column): "
        self.init(
            Code(error.status), position + reason, nativeCode: Int(error.native_code),
            underlying: XMLFault(line: Int(error.line), column: Int(error.column), reason: reason))
    }
}

extension NetError.Code {
    fileprivate init(_ status: nc_xml_status) {
        switch status {
        case .NC_XML_OK, .NC_XML_STOPPED: self = .internal
        case .NC_XML_USAGE: self = .usage
        case .NC_XML_NO_MEMORY: self = .noMemory
        case .NC_XML_MALFORMED, .NC_XML_ENTITY: self = .badXML
        case .NC_XML_TOO_LARGE: self = .tooLarge
        case .NC_XML_BAD_CHARSET: self = .badCharset
        @unknown default: self = .internal
        }
    }
}
#endif
