import FoundationEssentials
import NetKit

/// The steps of a WebSocket in the document of `nk mock`.
enum MockSocket {
    private static let names: [String: SocketStep.Action] = [
        "wait": .wait, "echo": .echo, "end": .end, "reset": .reset,
    ]
    private static let wanted = #""wait", "echo", "end", "reset", or an object with text, json, base64, ping, close …"#

    /// Parses the value of "websocket".
    static func steps(_ value: JSONValue, at location: String) throws(MockFault) -> [SocketStep] {
        var steps: [SocketStep] = []
        for (index, element) in (value.array ?? []).enumerated() {
            steps.append(try step(element, at: "\(location)/\(index)"))
        }
        return steps
    }

    private static func step(_ value: JSONValue, at location: String) throws(MockFault) -> SocketStep {
        if let name = value.string, let action = names[name] {
            return SocketStep(action: action)
        }
        let members = value.members ?? []
        let first = members.first { $0.name != "reason" }
        guard let first, members.count == (first.name == "close" && value["reason"] != nil ? 2 : 1) else {
            throw fault(location, found: value)
        }
        let text = first.value.string
        switch (first.name, text) {
        case ("text", let text?): return SocketStep(action: .text, bytes: Array(text.utf8))
        case ("json", _): return SocketStep(action: .text, bytes: Array(first.value.description.utf8))
        case ("base64", let text?), ("frame_base64", let text?):
            guard let data = Data(base64Encoded: text) else {
                throw .document(
                    RunFault("\(location)/\(first.name)", wanted: "base64", found: "\"\(text.prefix(20))\""))
            }
            return SocketStep(action: first.name == "base64" ? .binary : .raw, bytes: Array(data))
        case ("ping", let text?) where text.utf8.count <= 125:
            return SocketStep(action: .ping, bytes: Array(text.utf8))
        case ("close", nil): return try close(first.value, reason: value["reason"], at: location)
        default: throw fault(location, found: value)
        }
    }

    private static func close(
        _ code: JSONValue, reason: JSONValue?, at location: String
    ) throws(MockFault) -> SocketStep {
        guard let number = code.int, (1000...4999).contains(number) else {
            throw .document(RunFault(location + "/close", wanted: "a code from 1000 to 4999", found: code.description))
        }
        guard let text = reason == nil ? "" : reason?.string, text.utf8.count <= 123 else {
            throw .document(
                RunFault(location + "/reason", wanted: "a string of at most 123 bytes", found: "another value"))
        }
        return SocketStep(action: .close, bytes: Array(text.utf8), code: UInt16(number))
    }

    private static func fault(_ location: String, found value: JSONValue) -> MockFault {
        .document(RunFault(location, wanted: wanted, found: String(value.description.prefix(40))))
    }
}
