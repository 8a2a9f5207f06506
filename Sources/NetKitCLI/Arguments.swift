import NetKit

/// What a command line asks for: a value, made without touching anything.
struct Arguments: Sendable {
    /// A -H: a field to send, or the name of a default one to leave out.
    enum HeaderChange: Sendable {
        case send(Headers.Field)
        case leaveOut(String)
    }

    /// A -d or --json, before its file is read.
    struct DataPiece: Sendable {
        var text: String
        var isJSON: Bool
        /// The file that `@file` names; "-" is standard input.
        var file: String? { text.hasPrefix("@") ? String(text.dropFirst()) : nil }
    }

    var url = ""
    var method: String?
    var headers: [HeaderChange] = []
    var data: [DataPiece] = []
    var outputPath: String?
    var showsHead = false
    var asksForHead = false
    var isVerbose = false
    var isSilent = false
    var showsErrors = false
    var failsOnStatus = false
    var followsRedirects = false
    var isInsecure = false
    var isCompressed = false
    var userAgent: String?
    var authorityFile: String?
    var overrides: [AddressOverride] = []
    var protocolChoice = ProtocolChoice.automatic
    var maxRedirects = 50
    var maxBodyBytes: Int?
    var connectLimit: Duration?
    var totalLimit: Duration?
    var wantsHelp = false
    var wantsVersion = false

    /// Reads a command line, the program's name left out.
    init(parsing words: [String]) throws(UsageError) {
        var rest = words[...]
        var urls: [String] = []
        var areOptionsOver = false
        while let word = rest.popFirst() {
            if areOptionsOver || word == "-" || !word.hasPrefix("-") {
                urls.append(word)
            } else if word == "--" {
                areOptionsOver = true
            } else if word.hasPrefix("--") {
                try take(long: String(word.dropFirst(2)), &rest)
            } else {
                try take(shorts: word.dropFirst(), &rest)
            }
        }
        if wantsHelp || wantsVersion {
            return
        }
        guard let first = urls.first else { throw UsageError("no URL; nk --help lists what there is") }
        if urls.count > 1 {
            throw UsageError("one URL at a time, and '\(urls[1])' is a second one")
        }
        if asksForHead && !data.isEmpty {
            throw UsageError("-I asks for the head alone, -d and --json send a body: choose one")
        }
        url = Self.completed(first)
    }

    private mutating func take(long name: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        guard let option = Option.all.first(where: { $0.long == name }) else {
            throw UsageError("unknown option --\(name)")
        }
        switch option.effect {
        case .flag(let apply):
            apply(&self)
        case .value(let apply):
            guard let value = rest.popFirst() else { throw UsageError("option --\(name) needs a value") }
            try apply(&self, value)
        }
    }

    /// Short options may stand together (-sSf), and the last one's value may follow at once (-XPOST).
    private mutating func take(shorts word: Substring, _ rest: inout ArraySlice<String>) throws(UsageError) {
        var letters = word
        while let letter = letters.popFirst() {
            guard let option = Option.all.first(where: { $0.short == letter }) else {
                throw UsageError("unknown option -\(letter)")
            }
            switch option.effect {
            case .flag(let apply):
                apply(&self)
            case .value(let apply):
                guard let value = letters.isEmpty ? rest.popFirst() : String(letters) else {
                    throw UsageError("option -\(letter) needs a value")
                }
                try apply(&self, value)
                return
            }
        }
    }

    /// As curl does, a URL without a scheme is taken for http. "http:x" is left for the library to refuse.
    private static func completed(_ url: String) -> String {
        let lowered = url.lowercased()
        let hasScheme = url.contains("://") || lowered.hasPrefix("http:/") || lowered.hasPrefix("https:/")
        return hasScheme || url.isEmpty ? url : "http://" + url
    }
}

/// A command line that cannot be read: one line that names the offender.
struct UsageError: Error {
    let message: String

    init(_ message: String) {
        self.message = message
    }
}
