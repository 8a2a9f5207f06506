import NetKit

/// The value of -F or --form-string: one part of a form, in curl's syntax.
struct FormField: Sendable {
    enum Content: Sendable {
        case text(String)
        /// `@path`: a file, with its name.
        case file(String)
        /// `<path>`: the contents of a file, as a field.
        case contents(String)
        /// The contents of a file that was read.
        case bytes([UInt8])
    }

    var name: String
    var content: Content
    var type: String?
    var fileName: String?
    var headers = Headers()

    /// Whether its content comes from standard input.
    var readsStandardInput: Bool {
        switch content {
        case .text, .bytes: false
        case .file(let path), .contents(let path): path == "-"
        }
    }

    /// Whether its content is standard input, sent while it is read.
    var sendsStandardInput: Bool {
        if case .file("-") = content { true } else { false }
    }

    /// Parses `name=value`, in which no character has a special meaning.
    init(literal text: String) throws(UsageError) {
        let (name, value) = try Self.halves(of: text, option: "--form-string")
        self.init(name, .text(value))
    }

    private init(_ name: String, _ content: Content) {
        self.name = name
        self.content = content
    }

    /// Parses `name=value`, `name=@file` or `name=<file`, each optionally followed by `;type=`, `;filename=` and
    /// `;headers=`. Several files, separated by commas, become parts of the same name.
    static func parsed(_ text: String) throws(UsageError) -> [FormField] {
        let (name, value) = try halves(of: text, option: "-F")
        var rest = FormText(value)
        if name.isEmpty && (rest.next == "(" || rest.next == ")") {
            throw UsageError("-F '=(' and '=)': a form within a form is not sent")
        }
        let mark = rest.next == "@" || rest.next == "<" ? rest.take() : nil
        var fields: [FormField] = []
        repeat {
            let word = rest.word(endsAtComma: mark == "@")
            var field = FormField(name, mark == "@" ? .file(word) : mark == "<" ? .contents(word) : .text(word))
            if mark != nil && word.isEmpty {
                throw UsageError("-F '\(name)' names no file")
            }
            while rest.next == ";" {
                try field.takeAttribute(of: &rest, endsAtComma: mark == "@")
            }
            fields.append(field)
        } while mark == "@" && rest.take(",")
        return fields
    }

    private static func halves(
        of text: String, option: String
    ) throws(UsageError) -> (name: String, value: String) {
        guard let (name, _, value) = text.cut(atFirst: "=") else {
            throw UsageError("\(option) has no '=': it is name=value")
        }
        return (name, value)
    }

    /// The text after ";" may be part of a secret, so errors show only the field's name.
    private mutating func takeAttribute(of rest: inout FormText, endsAtComma: Bool) throws(UsageError) {
        _ = rest.take(";")
        rest.skipBlanks()
        if rest.take(prefix: "type=") {
            let type = rest.type(endsAtComma: endsAtComma)
            if type.split(separator: "/", maxSplits: 1).count != 2 {
                throw UsageError("-F '\(name)': type= is no media type")
            }
            self.type = type
        } else if rest.take(prefix: "filename=") {
            fileName = rest.word(endsAtComma: endsAtComma)
        } else if rest.take(prefix: "headers=") {
            let field = rest.word(endsAtComma: endsAtComma)
            let option = "-F '\(name)': headers="
            guard case .send(let header) = try OptionValue.header(field, of: option) else {
                throw UsageError("\(option) has no value")
            }
            headers.append(name: header.name, value: header.value)
        } else {
            throw UsageError(
                "-F '\(name)': behind a ';' stands no type=, filename= or headers=; --form-string takes any value")
        }
    }
}

extension FormField {
    /// Returns the form of these fields and its length, or `nil` if the length is unknown before it is read.
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

    /// Returns the field for several URLs. A pipe has no data for a second one. So the contents of a field are read
    /// now, and a file that can be read only once is refused.
    func readForSeveral() throws(Failure) -> FormField {
        var field = self
        switch content {
        case .text, .bytes: break
        case .contents(let path): field.content = .bytes(try Self.contents(of: path))
        case .file(let path):
            if try Self.comesOnce(path) {
                throw Failure(ExitCode.usage, "'\(path)' is read as it comes, and can be sent to one URL only")
            }
        }
        return field
    }

    private func append(to form: inout MultipartBody) throws(Failure) {
        switch content {
        case .text(let text):
            if type == nil && fileName == nil && headers.isEmpty {
                form.append(text, name: name)
            } else {
                let body = Body(Bytes(Array(text.utf8)), contentType: type)
                form.append(body, name: name, fileName: fileName, headers: headers)
            }
        case .contents(let path):
            let body = Body(Bytes(try Self.contents(of: path)))
            form.append(typed(body), name: name, fileName: fileName, headers: headers)
        case .bytes(let bytes):
            form.append(typed(Body(Bytes(bytes))), name: name, fileName: fileName, headers: headers)
        case .file(let path):
            let body: Body =
                try Self.comesOnce(path)
                ? .once(try Self.read(path) { path throws(SystemError) in try InputPieces(path) }) : .file(path)
            let last = path.unicodeScalars.split(separator: "/").last.map { String($0) } ?? path
            var typed = typed(body)
            // As in curl, another name without a known extension does not change the type of the file.
            if type == nil, let fileName, FileType.known(by: fileName) == nil {
                typed.contentType = FileType.known(by: last)
            }
            form.append(typed, name: name, fileName: fileName ?? last, headers: headers)
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

    /// Whether it is not a regular file, so that it can be read only once.
    private static func comesOnce(_ path: String) throws(Failure) -> Bool {
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
