import NetKit
import NetKitImages

/// `nk image`: loads an image, describes it, writes it as a PNG, and shows it in a terminal.
struct ImageCommand {
    static let help = """
        Usage: nk image [options] URL

        Gets a PNG, JPEG or WebP and tells its kind and size; of a GIF, BMP, ICO or
        TIFF that much alone.

          -o, --output FILE|-          writes it as a PNG
              --max WxH                scales it down to fit, in pixels
              --max-pixels N           refuses more pixels than this (50000000)
              --ignore-orientation     leaves it as it is stored
              --preview auto|yes|no    shows it in half blocks; auto: on a terminal with
                                       colours, without -o -
          -H, --header 'Name: value'   sent with the request
          -k, --insecure               believes every certificate

        Exit codes: 0, 2 for a wrong word, 22 for a status that is not from 200 to
        299, 105 for a type that is no image's, 108 for a body that is none or is
        damaged, 63 for one that is too large, else as nk's.

        """

    /// Whether a preview is shown.
    enum Preview: String {
        case auto, yes, no
    }

    private(set) var url: String?
    private(set) var output: String?
    private(set) var options = ImageOptions()
    private(set) var preview = Preview.auto
    private(set) var headers = Headers()
    private(set) var isInsecure = false

    static func run(_ words: ArraySlice<String>) async -> Int32 {
        if words.contains("--help") || words.contains("-h") {
            return Command.show(help)
        }
        do throws(UsageError) {
            let command = try ImageCommand(words)
            return await Command.untilInterrupted { () async throws(Failure) in
                try await command.perform()
                return ExitCode.success
            }
        } catch {
            return Command.complain(Failure(ExitCode.usage, error.message))
        }
    }

    init(_ words: ArraySlice<String>) throws(UsageError) {
        var rest = words
        while let word = rest.popFirst() {
            switch word {
            case "-o", "--output": output = try rest.takeValue(of: word)
            case "--max": options.fit = try Self.size(try rest.takeValue(of: word))
            case "--max-pixels": options.maxPixels = try rest.takeCount(of: word)
            case "--ignore-orientation": options.ignoresOrientation = true
            case "--preview":
                let choice = try rest.takeValue(of: word)
                guard let chosen = Preview(rawValue: choice) else {
                    throw UsageError("--preview is auto, yes or no, not '\(choice)'")
                }
                preview = chosen
            case "-H", "--header": try rest.takeField(of: word, to: &headers)
            case "-k", "--insecure": isInsecure = true
            case _ where word.hasPrefix("-") && word != "-": throw UsageError("image knows no option \(word)")
            case _ where url != nil: throw UsageError("image takes one URL, and '\(word)' is a second one")
            default: url = word
            }
        }
        if url == nil {
            throw UsageError("image takes a URL; nk image --help")
        }
    }

    private static func size(_ text: String) throws(UsageError) -> ImageOptions.Size {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let width = parts[0], let height = parts[1], (1...1 << 20).contains(width),
            (1...1 << 20).contains(height)
        else { throw UsageError("--max takes WIDTHxHEIGHT in pixels, such as 512x512, not '\(text)'") }
        return .init(width: width, height: height)
    }

    // MARK: Work

    private func perform() async throws(Failure) {
        let encoded = try await fetch()
        let isForOthers = output == "-"
        guard encoded.format.isDecoded else {
            try say(Self.line(encoded, nil), to: isForOthers)
            if output != nil {
                throw Self.failure(NetError(.unsupported, "\(encoded.format) is recognized and not decoded"))
            }
            return
        }
        let image = try Self.made { () throws(NetError) in try encoded.decoded(by: options) }
        try say(Self.line(encoded, image), to: isForOthers)
        if let output {
            try write(try Self.made { () throws(NetError) in try image.png() }, to: output)
        }
        try show(encoded)
    }

    private static func made<Value>(_ make: () throws(NetError) -> Value) throws(Failure) -> Value {
        do throws(NetError) {
            return try make()
        } catch {
            throw failure(error)
        }
    }

    private func fetch() async throws(Failure) -> EncodedImage {
        var request = Request<Bytes>(url ?? "", headers: headers).decoded(by: .encodedImage(options))
        request.acceptedStatuses = 200..<300
        if request.headers["Accept"] == nil {
            request.headers["Accept"] = "image/*"
        }
        if isInsecure {
            request.trust = TrustPolicy(acceptsAnything: true)
        }
        do throws(NetError) {
            return try await Agent().send(request).value
        } catch {
            throw Self.failure(error)
        }
    }

    /// In this command only an image can exceed a limit.
    private static func failure(_ error: NetError) -> Failure {
        error.code == .tooLarge ? Failure(ExitCode.tooLarge, error.message) : Failure(error)
    }

    /// "jpeg 4000 x 3000, 1203344 bytes -> 512 x 384".
    static func line(_ encoded: EncodedImage, _ image: Image?) -> String {
        var line = "\(encoded.format)"
        if encoded.width > 0 {
            line += " \(encoded.width) x \(encoded.height)"
        }
        line += encoded.orientation == 1 ? "" : ", orientation \(encoded.orientation)"
        line += encoded.isAnimated ? ", animated" : ""
        line += ", \(encoded.bytes.count) bytes"
        return line + (image.map { " -> \($0.width) x \($0.height)" } ?? "") + "\n"
    }

    /// If the image is written to standard output, text goes to standard error.
    private func say(_ text: String, to standardError: Bool) throws(Failure) {
        do throws(SystemError) {
            try Terminal.write(text, to: standardError ? Terminal.standardError : Terminal.standardOutput)
        } catch {
            throw Failure(writing: error, to: nil)
        }
    }

    private func write(_ bytes: Bytes, to path: String) throws(Failure) {
        do throws(SystemError) {
            if path == "-" {
                try bytes.withSpan { span throws(SystemError) in try Terminal.write(span, to: Terminal.standardOutput) }
                return
            }
            let file = try OutputFile(at: path)
            try bytes.withSpan { span throws(SystemError) in try file.write(span) }
            try file.keep()
        } catch {
            throw Failure(writing: error, to: path == "-" ? nil : path)
        }
    }

    private func show(_ encoded: EncodedImage) throws(Failure) {
        let colours = ColourDepth.ofStandardOutput
        guard output != "-", preview == .yes || (preview == .auto && colours != nil) else { return }
        let (columns, rows) = Window.size
        var options = options
        // A character is twice as high as wide, and shows two pixels.
        let width = min(max(1, columns - 1), options.fit?.width ?? .max)
        let height = min(max(2, (rows - 2) * 2), options.fit?.height ?? .max)
        options.fit = .init(width: width, height: height)
        let image = try Self.made { () throws(NetError) in try encoded.decoded(by: options) }
        try say(ImagePreview.text(of: image, in: colours ?? .indexed), to: false)
    }
}
