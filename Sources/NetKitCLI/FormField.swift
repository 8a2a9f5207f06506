import NetKit

/// One part of a form, from the value of -F or --form-string.
struct FormField: Sendable {
    enum Content: Sendable {
        case text(String)
        /// `@path`: a file, with its name.
        case file(String)
        /// `<path>`: the contents of a file, as a field.
        case contents(String)
        /// The contents of a file that was read already.
        case bytes([UInt8])
    }

    var name: String
    var content: Content
    var type: String?
    var filename: String?
    var headers = Headers()

    /// Whether the content comes from standard input.
    var readsStandardInput: Bool {
        switch content {
        case .text, .bytes: false
        case .file(let path), .contents(let path): path == "-"
        }
    }

    /// Whether the content is standard input and is sent while it is read.
    var sendsStandardInput: Bool {
        if case .file("-") = content { true } else { false }
    }

    /// Parses `name=value`, in which no character has a special meaning.
    init(literal text: String) throws(UsageError) {
        let (name, value) = try Self.nameAndValue(of: text, option: "--form-string")
        self.init(name, .text(value))
    }

    private init(_ name: String, _ content: Content) {
        self.name = name
        self.content = content
    }

    /// Parses `name=value`, `name=@file` or `name=<file`, each optionally followed by `;type=`, `;filename=` and
    /// `;headers=`. Several files, separated by commas, become parts with the same name.
    static func parse(_ text: String) throws(UsageError) -> [FormField] {
        let (name, value) = try nameAndValue(of: text, option: "-F")
        var parser = FormArgumentParser(value)
        if name.isEmpty && (parser.next == "(" || parser.next == ")") {
            throw UsageError("-F '=(' and '=)': nested forms are not supported")
        }
        let mark = parser.next == "@" || parser.next == "<" ? parser.take() : nil
        var fields: [FormField] = []
        repeat {
            let word = parser.word(endsAtComma: mark == "@")
            var field = FormField(name, mark == "@" ? .file(word) : mark == "<" ? .contents(word) : .text(word))
            if mark != nil && word.isEmpty {
                throw UsageError("-F '\(name)' needs a file name")
            }
            while parser.next == ";" {
                try field.takeAttribute(of: &parser, endsAtComma: mark == "@")
            }
            fields.append(field)
        } while mark == "@" && parser.take(",")
        return fields
    }

    private static func nameAndValue(
        of text: String, option: String
    ) throws(UsageError) -> (name: String, value: String) {
        guard let (name, _, value) = text.cut(atFirst: "=") else {
            throw UsageError("\(option) has no '=': use NAME=VALUE")
        }
        return (name, value)
    }

    /// Parses one attribute. Error messages contain only the name of the field, because the text after ";" may be part
    /// of a secret.
    private mutating func takeAttribute(of parser: inout FormArgumentParser, endsAtComma: Bool) throws(UsageError) {
        _ = parser.take(";")
        parser.skipBlanks()
        if parser.take(prefix: "type=") {
            let type = parser.type(endsAtComma: endsAtComma)
            if type.split(separator: "/", maxSplits: 1).count != 2 {
                throw UsageError("-F '\(name)': type= is not a media type")
            }
            self.type = type
        } else if parser.take(prefix: "filename=") {
            filename = parser.word(endsAtComma: endsAtComma)
        } else if parser.take(prefix: "headers=") {
            let field = parser.word(endsAtComma: endsAtComma)
            let option = "-F '\(name)': headers="
            guard case .send(let header) = try OptionValue.header(field, of: option) else {
                throw UsageError("\(option) has no value")
            }
            headers.append(name: header.name, value: header.value)
        } else {
            throw UsageError(
                "-F '\(name)': expected type=, filename= or headers= after ';'; use --form-string for a value with ';'")
        }
    }
}

extension FormField {
    /// Returns the form with these fields, and its length in bytes. The length is `nil` if it is unknown before the
    /// form is read.
    static func body(of fields: [FormField], boundary: String? = nil) throws(Failure) -> (body: Body, length: Int?) {
        var form = MultipartBody(boundary: boundary)
        for field in fields {
            try field.append(to: &form)
        }
        do throws(NetError) {
            let body = try Body.multipart(form)
            return (body, try body.measureForm())
        } catch {
            throw Failure(error.code == .badPart ? ExitCode.usage : ExitCode.of(error), error.message)
        }
    }

    /// Returns the field in a form that can be sent to several URLs. A file of `<path>` is read now, because a pipe has
    /// no data for a second reading. A file of `@path` that can be read only once is an error.
    func readForSeveral() throws(Failure) -> FormField {
        var field = self
        switch content {
        case .text, .bytes: break
        case .contents(let path): field.content = .bytes(try Self.contents(of: path))
        case .file(let path):
            if try Self.canBeReadOnce(path) {
                throw Failure(ExitCode.usage, "'\(path)' is not a regular file and can be sent to one URL only")
            }
        }
        return field
    }

    private func append(to form: inout MultipartBody) throws(Failure) {
        switch content {
        case .text(let text):
            if type == nil && filename == nil && headers.isEmpty {
                form.append(text, name: name)
            } else {
                let body = Body(Bytes(Array(text.utf8)), contentType: type)
                form.append(body, name: name, filename: filename, headers: headers)
            }
        case .contents(let path):
            let body = Body(Bytes(try Self.contents(of: path)))
            form.append(typed(body), name: name, filename: filename, headers: headers)
        case .bytes(let bytes):
            form.append(typed(Body(Bytes(bytes))), name: name, filename: filename, headers: headers)
        case .file(let path):
            let body: Body =
                try Self.canBeReadOnce(path)
                ? .once(try Self.read(path) { path throws(SystemError) in try InputChunks(path) }) : .file(path)
            let last = path.unicodeScalars.split(separator: "/").last.map { String($0) } ?? path
            var typed = typed(body)
            // As in curl, the type is then that of the file's own extension if `filename=` has no known extension.
            if type == nil, let filename, FileType.known(by: filename) == nil {
                typed.contentType = FileType.known(by: last)
            }
            form.append(typed, name: name, filename: filename ?? last, headers: headers)
        }
    }

    private func typed(_ body: Body) -> Body {
        var body = body
        body.contentType = type
        return body
    }

    private static func contents(of path: String) throws(Failure) -> [UInt8] {
        Interrupt.isWaiting(true)
        defer { Interrupt.isWaiting(false) }
        return try read(path) { path throws(SystemError) in
            try InputFile.contents(of: path, maxBytes: InputFile.maxDataBytes)
        }
    }

    /// Returns true if the file is not a regular file and can therefore be read only once.
    private static func canBeReadOnce(_ path: String) throws(Failure) -> Bool {
        try read(path) { path throws(SystemError) in try InputFile.length(of: path) } == nil
    }

    private static func read<Value>(
        _ path: String, _ read: (String) throws(SystemError) -> Value
    ) throws(Failure) -> Value {
        do throws(SystemError) {
            return try read(path)
        } catch {
            throw Failure(reading: error, from: path)
        }
    }
}
