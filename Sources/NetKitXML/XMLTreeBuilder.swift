#if XML
import NetKit

/// Builds a document tree from events.
struct XMLTreeBuilder {
    private let maxNodes: Int
    private var nodeCount = 0
    private var openElements: [XMLElement] = []
    private var root: XMLElement?
    private var documentType: XMLDocument.DocumentType?

    init(maxNodes: Int) {
        self.maxNodes = maxNodes
    }

    mutating func add(_ events: [XMLEvent]) throws(NetError) {
        for event in events {
            add(event)
            if nodeCount > maxNodes {
                throw NetError(.tooLarge, "the document has more than \(maxNodes) nodes")
            }
        }
    }

    func document() throws(NetError) -> XMLDocument {
        guard let root else {
            throw NetError(.internal, "a well-formed text has no root")
        }
        return XMLDocument(root: root, documentType: documentType)
    }

    private mutating func add(_ event: XMLEvent) {
        switch event {
        case .start(let name, let attributes, let namespaces):
            nodeCount += 1 + attributes.count + namespaces.count
            openElements.append(XMLElement(name, attributes: attributes, namespaces: namespaces))
        case .end:
            close()
        case .text(let text):
            append(text)
        case .comment(let text):
            append(.comment(text))
        case .instruction(let target, let data):
            append(.instruction(target: target, data: data))
        case .documentType(let name, let publicID, let systemID):
            documentType = .init(name: name, publicID: publicID, systemID: systemID)
        }
    }

    private mutating func close() {
        guard let element = openElements.popLast() else { return }
        if openElements.isEmpty {
            root = element
        } else {
            openElements[openElements.count - 1].children.append(.element(element))
        }
    }

    private mutating func append(_ text: String) {
        guard let last = openElements.last?.children.indices.last,
            case .text(var whole) = openElements[openElements.count - 1].children[last]
        else { return append(.text(text)) }
        // The text is replaced in the tree while it grows. It then has only one reference, so that appending does not
        // copy it.
        openElements[openElements.count - 1].children[last] = .text("")
        whole += text
        openElements[openElements.count - 1].children[last] = .text(whole)
    }

    /// Adds a node to the innermost open element. A node outside the root element is counted, but ignored.
    private mutating func append(_ node: XMLNode) {
        nodeCount += 1
        if !openElements.isEmpty {
            openElements[openElements.count - 1].children.append(node)
        }
    }
}
#endif
