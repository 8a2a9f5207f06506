import NetKit

/// The document of `nk run`: a batch or a chain.
struct RunDocument: Sendable {
    enum Kind: String, Sendable {
        case batch
        case chain
    }

    struct Step: Sendable {
        var name: String
        var method: Method?
        var url: StepTemplate
        var query: JSONValue?
        var headers: [(name: String, value: StepTemplate)] = []
        var body: StepTemplate?
        var json: JSONValue?
        /// The names of the steps that must end before this one.
        var earlier: [String] = []
        var statuses = StatusSet(200..<300)
        var total: Duration?
    }

    var kind = Kind.batch
    var base: String?
    var headers: Headers = [:]
    var limit: Int?
    var collects = false
    var total: Duration?
    var steps: [Step] = []

    private static var shape: JSONShape {
        let step = JSONShape.object([
            "name?": .string(minLength: 1, maxLength: 64), "url": .string, "method?": .string(minLength: 1),
            "query?": .object, "headers?": .object, "body?": .string, "json?": .any, "after?": [.string],
            "status?": .array(of: .integer(min: 100, max: 999), minItems: 2, maxItems: 2),
            "timeout_s?": .number(min: 0.001, max: 604_800),
        ]).closed
        return JSONShape.object([
            "kind?": .oneOf(["batch", "chain"]), "base?": .string, "headers?": .object,
            "limit?": .integer(min: 1, max: 1_000_000), "collect?": .boolean,
            "timeout_s?": .number(min: 0.001, max: 604_800), "steps": [step],
        ]).closed
    }

    /// Parses a document. The error for an invalid one contains the position and what was expected there.
    init(_ bytes: Bytes) throws(RunFault) {
        let tree: JSONValue
        do throws(NetError) {
            let check = try JSONCheck(JSONExpectation(Self.shape))
            try check.feed(bytes)
            try check.finish()
            tree = try JSONValue(bytes)
        } catch {
            throw RunFault(error)
        }
        kind = tree["kind"]?.string.flatMap(Kind.init) ?? .batch
        base = tree["base"]?.string
        limit = tree["limit"]?.int
        collects = tree["collect"]?.bool ?? false
        total = Self.duration(tree["timeout_s"])
        headers = Headers(try Self.texts(tree["headers"], at: "/headers").map { .init(name: $0.name, value: $0.value) })
        for (index, step) in (tree["steps"]?.array ?? []).enumerated() {
            steps.append(try Self.step(step, index))
        }
        try check(tree)
    }

    private static func step(_ value: JSONValue, _ index: Int) throws(RunFault) -> Step {
        let location = "/steps/\(index)"
        var step = Step(
            name: value["name"]?.string ?? "\(index + 1)", method: value["method"]?.string.map(Method.init(rawValue:)),
            url: try StepTemplate(value["url"]?.string ?? "", at: location + "/url"))
        if let method = step.method, !method.rawValue.isToken {
            throw RunFault(location + "/method", wanted: "a method", found: "\"\(method)\"")
        }
        step.query = value["query"]
        for field in try texts(value["headers"], at: location + "/headers") {
            step.headers.append(
                (field.name, try StepTemplate(field.value, at: "\(location)/headers/\(field.name.pointerWord)")))
        }
        if let body = value["body"]?.string {
            step.body = try StepTemplate(body, at: location + "/body")
        }
        step.json = value["json"]
        if step.body != nil && step.json != nil {
            throw RunFault(location, wanted: "\"body\" or \"json\"", found: "both")
        }
        step.earlier = (value["after"]?.array ?? []).compactMap(\.string)
        if let statuses = value["status"]?.array?.compactMap(\.int), statuses.count == 2 {
            if statuses[0] > statuses[1] {
                throw RunFault(location + "/status", wanted: "the lowest and the highest status", found: "\(statuses)")
            }
            step.statuses = statuses[0]..<statuses[1] + 1
        }
        step.total = duration(value["timeout_s"])
        return step
    }

    /// Returns the members of an object, which must all be strings.
    private static func texts(
        _ value: JSONValue?, at location: String
    ) throws(RunFault) -> [(name: String, value: String)] {
        var texts: [(name: String, value: String)] = []
        for member in value?.members ?? [] {
            let field = "\(location)/\(member.name.pointerWord)"
            guard member.name.isToken else {
                throw RunFault(field, wanted: "a name of letters, digits and hyphens", found: "another character")
            }
            guard let text = member.value.string else {
                throw RunFault(field, wanted: "string", found: member.value.description)
            }
            guard text.isLine else { throw RunFault(field, wanted: "one line", found: "a control character") }
            texts.append((member.name, text))
        }
        return texts
    }

    private static func duration(_ value: JSONValue?) -> Duration? {
        value?.double.map { .milliseconds(Int($0 * 1000)) }
    }
}

// MARK: Checks beyond the shape

extension RunDocument {
    /// Returns all texts of a step that may contain placeholders, with their positions.
    private static func texts(of step: Step, at location: String) throws(RunFault) -> [StepTemplate] {
        var texts = [step.url] + step.headers.map(\.value)
        if let body = step.body {
            texts.append(body)
        }
        for (name, value) in [("query", step.query), ("json", step.json)] {
            texts += try value?.templates(at: "\(location)/\(name)") ?? []
        }
        return texts
    }

    private mutating func check(_ tree: JSONValue) throws(RunFault) {
        try checkKind(tree)
        var indices: [String: Int] = [:]
        for (index, step) in steps.enumerated() where indices.updateValue(index, forKey: step.name) != nil {
            throw RunFault("/steps/\(index)/name", wanted: "a unique name", found: "\"\(step.name)\" twice")
        }
        for (index, step) in steps.enumerated() {
            for (number, name) in step.earlier.enumerated() where indices[name] == nil {
                throw RunFault(
                    "/steps/\(index)/after/\(number)", wanted: "the name of a step", found: "\"\(name)\"")
            }
            // By default, a step of a chain follows the preceding one.
            if kind == .chain, index > 0, tree["steps"]?[index]?["after"] == nil {
                steps[index].earlier = [steps[index - 1].name]
            }
        }
        try checkOrder()
        for (index, step) in steps.enumerated() {
            let earlierNames = names(before: index, indices)
            for text in try Self.texts(of: step, at: "/steps/\(index)") {
                for name in text.names where !earlierNames.contains(name) {
                    throw RunFault(
                        text.location, wanted: "a step that comes before \"\(step.name)\"",
                        found: indices[name] == nil ? "\"\(name)\", which is not a step" : "\"\(name)\"")
                }
            }
        }
    }

    private func checkKind(_ tree: JSONValue) throws(RunFault) {
        if kind == .chain, let name = ["limit", "collect"].first(where: { tree[$0] != nil }) {
            throw RunFault("/\(name)", wanted: "nothing in a chain", found: "\(name)")
        }
        if kind == .batch, let index = steps.firstIndex(where: { !$0.earlier.isEmpty }) {
            throw RunFault("/steps/\(index)/after", wanted: "nothing in a batch", found: "names of steps")
        }
    }

    private func checkOrder() throws(RunFault) {
        do throws(NetError) {
            var graph = StepGraph()
            for step in steps {
                graph.add(step.name, after: step.earlier, Request<Bytes>(""))
            }
            try graph.check()
        } catch {
            throw RunFault("/steps", wanted: "steps without cycles", found: error.message)
        }
    }

    private func names(before index: Int, _ indices: [String: Int]) -> Set<String> {
        var names: Set<String> = []
        var pending = steps[index].earlier
        while let name = pending.popLast() {
            if names.insert(name).inserted, let location = indices[name] {
                pending += steps[location].earlier
            }
        }
        return names
    }
}

/// The error for an unexpected element in a document.
struct RunFault: Error {
    /// The position as ":LINE:COLUMN". Empty if it is unknown.
    let location: String
    let message: String

    init(_ pointer: String, wanted: String, found: String) {
        location = ""
        message = "expected \(wanted), found \(found), at \(pointer.isEmpty ? "the root" : pointer)"
    }

    /// Creates the error for a value that is described by another message.
    init(_ pointer: String, _ message: String) {
        location = ""
        self.message = "\(message), at \(pointer)"
    }

    init(_ error: NetError) {
        guard let fault = error.jsonFaults.first else {
            location = ""
            message = error.message
            return
        }
        location = ":\(fault.line):\(fault.column)"
        if fault.found == "an unknown member", let pointer = fault.pointer {
            message = "unknown member at \(pointer)"
            return
        }
        message =
            (fault.pointer == nil ? "not JSON: " : "")
            + "expected \(fault.wanted), found \(fault.found)"
            + (fault.pointer.map { ", at \($0.isEmpty ? "the root" : $0)" } ?? "")
    }
}
