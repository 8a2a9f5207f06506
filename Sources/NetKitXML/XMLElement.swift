/// An element with all that is in it.
public struct XMLElement: Sendable, Hashable {
    /// Its name.
    public var name: XMLName
    /// Its attributes, in order.
    public var attributes: [XMLAttribute]
    /// The namespaces that it declares.
    public var namespaces: [XMLNamespace]
    /// What is in it, in order.
    public var children: [XMLNode]

    /// An element.
    public init(
        _ name: XMLName, attributes: [XMLAttribute] = [], namespaces: [XMLNamespace] = [], children: [XMLNode] = []
    ) {
        self.name = name
        self.attributes = attributes
        self.namespaces = namespaces
        self.children = children
    }

    /// The elements in it, in order.
    public var elements: [XMLElement] {
        children.compactMap { child in
            guard case .element(let element) = child else { return nil }
            return element
        }
    }

    /// The elements in it of this name.
    ///
    /// - Parameters:
    ///   - local: the name without a prefix.
    ///   - namespace: nil is any.
    public func elements(named local: String, namespace: String? = nil) -> [XMLElement] {
        elements.filter { $0.name.isCalled(local, in: namespace) }
    }

    /// The first element in it of this name; nil when there is none.
    ///
    /// - Parameters:
    ///   - local: the name without a prefix.
    ///   - namespace: nil is any.
    public func element(named local: String, namespace: String? = nil) -> XMLElement? {
        for case .element(let element) in children where element.name.isCalled(local, in: namespace) {
            return element
        }
        return nil
    }

    /// The value of an attribute; nil when there is none.
    ///
    /// - Parameters:
    ///   - local: the name without a prefix.
    ///   - namespace: nil is any.
    public func attribute(_ local: String, namespace: String? = nil) -> String? {
        attributes.first { $0.name.isCalled(local, in: namespace) }?.value
    }

    /// All text in it, at any depth, comments and instructions left out.
    public var text: String {
        var text = ""
        appendText(to: &text)
        return text
    }

    // As deep as a parser lets elements stand.
    private func appendText(to text: inout String) {
        for child in children {
            switch child {
            case .element(let element): element.appendText(to: &text)
            case .text(let piece): text += piece
            case .comment, .instruction: break
            }
        }
    }
}

extension XMLName {
    fileprivate func isCalled(_ local: String, in namespace: String?) -> Bool {
        self.local == local && (namespace == nil || namespace == self.namespace)
    }
}
