import NetKit

/// Builds a tree from events.
struct XMLTreeBuilder {
    private let maxNodes: Int
    private var nodes = 0
    private var open: [XMLElement] = []
    private var root: XMLElement?
    private var documentType: XMLDocument.DocumentType?

    init(maxNodes: Int) {
        self.maxNodes = maxNodes
    }

    mutating func add(_ events: [XMLEvent]) throws(NetError) {
        for event in events {
            add(event)
            if nodes > maxNodes {
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
            nodes += 1 + attributes.count + namespaces.count
            open.append(XMLElement(name, attributes: attributes, namespaces: namespaces))
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
        guard let element = open.popLast() else { return }
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].children.append(.element(element))
        }
    }

    private mutating func append(_ text: String) {
        guard let last = open.last?.children.indices.last, case .text(var whole) = open[open.count - 1].children[last]
        else { return append(.text(text)) }
        // Taken out of the tree it has one reference, and is appended to without a copy.
        open[open.count - 1].children[last] = .text("")
        whole += text
        open[open.count - 1].children[last] = .text(whole)
    }

    /// Nodes outside the root are ignored.
    private mutating func append(_ node: XMLNode) {
        nodes += 1
        if !open.isEmpty {
            open[open.count - 1].children.append(node)
        }
    }
}
