#if XML
/// An element with its attributes and child nodes.
public struct XMLElement: Sendable, Hashable {
    /// The name.
    public var name: XMLName
    /// The attributes, in order.
    public var attributes: [XMLAttribute]
    /// The namespaces that the element declares.
    public var namespaces: [XMLNamespace]
    /// The child nodes, in order.
    public var children: [XMLNode]

    /// Creates an element.
    public init(
        _ name: XMLName, attributes: [XMLAttribute] = [], namespaces: [XMLNamespace] = [], children: [XMLNode] = []
    ) {
        self.name = name
        self.attributes = attributes
        self.namespaces = namespaces
        self.children = children
    }

    /// The child elements, in order.
    public var elements: [XMLElement] {
        children.compactMap { child in
            guard case .element(let element) = child else { return nil }
            return element
        }
    }

    /// Returns the child elements with this name.
    ///
    /// - Parameters:
    ///   - local: the name without a prefix.
    ///   - namespace: the namespace; `nil` matches all.
    public func elements(named local: String, namespace: String? = nil) -> [XMLElement] {
        elements.filter { $0.name.isCalled(local, in: namespace) }
    }

    /// Returns the first child element with this name, or `nil` if there is none.
    ///
    /// - Parameters:
    ///   - local: the name without a prefix.
    ///   - namespace: the namespace; `nil` matches all.
    public func element(named local: String, namespace: String? = nil) -> XMLElement? {
        for case .element(let element) in children where element.name.isCalled(local, in: namespace) {
            return element
        }
        return nil
    }

    /// Returns the value of an attribute, or `nil` if there is none.
    ///
    /// - Parameters:
    ///   - local: the name without a prefix.
    ///   - namespace: the namespace; `nil` matches all.
    public func attribute(_ local: String, namespace: String? = nil) -> String? {
        attributes.first { $0.name.isCalled(local, in: namespace) }?.value
    }

    /// The text of all text nodes in the element, at any depth.
    public var text: String {
        var text = ""
        appendText(to: &text)
        return text
    }

    // The recursion is bounded, because the parser limits the depth.
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
#endif
