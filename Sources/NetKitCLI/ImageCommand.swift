#if Images
import NetKit
import NetKitImages

/// `nk image`: loads an image, describes it, writes it as a PNG, and shows it in a terminal.
struct ImageCommand {
    static let help = """
        Usage: nk image [options] URL

        Fetches a PNG, JPEG or WebP image and prints its format and size. For GIF,
        BMP, ICO and TIFF it prints only these.

          -o, --output FILE|-          Write the image as a PNG
              --max WxH                Scale the image down to fit, in pixels
              --max-pixels N           Reject an image of more pixels (50000000)
              --ignore-orientation     Do not apply the EXIF orientation
              --preview auto|yes|no    Show the image as text; auto: on a colour
                                       terminal, without -o -
          -H, --header 'Name: value'   Send this header
          -k, --insecure               Accept any certificate, also a forged one

        Exit code: 0 success, 2 usage, 22 HTTP status not 2xx, 63 image too large,
        105 Content-Type is not an image, 108 body is not an image or is damaged,
        or as for nk URL.

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
        var remaining = words
        while let word = remaining.popFirst() {
            switch word {
            case "-o", "--output": output = try remaining.takeValue(of: word)
            case "--max": options.fit = try Self.size(try remaining.takeValue(of: word))
            case "--max-pixels": options.maxPixels = try remaining.takeCount(of: word)
            case "--ignore-orientation": options.ignoresOrientation = true
            case "--preview":
                let choice = try remaining.takeValue(of: word)
                guard let chosen = Preview(rawValue: choice) else {
                    throw UsageError("invalid --preview '\(choice)': expected auto, yes or no")
                }
                preview = chosen
            case "-H", "--header": try remaining.takeField(of: word, to: &headers)
            case "-k", "--insecure": isInsecure = true
            case _ where word.hasPrefix("-") && word != "-":
                throw UsageError("image: unknown option \(word); see nk image --help")
            case _ where url != nil: throw UsageError("image accepts one URL; unexpected '\(word)'")
            default: url = word
            }
        }
        if url == nil {
            throw UsageError("image needs a URL; see nk image --help")
        }
    }

    private static func size(_ text: String) throws(UsageError) -> ImageOptions.Size {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let width = parts[0], let height = parts[1], (1...1 << 20).contains(width),
            (1...1 << 20).contains(height)
        else { throw UsageError("invalid --max '\(text)': expected WIDTHxHEIGHT in pixels, such as 512x512") }
        return .init(width: width, height: height)
    }

    // MARK: Work

    private func perform() async throws(Failure) {
        let encoded = try await fetch()
        let writesToStandardOutput = output == "-"
        guard encoded.format.isDecoded else {
            try say(Self.line(encoded, nil), to: writesToStandardOutput)
            if output != nil {
                throw Self.failure(
                    NetError(.unsupported, "cannot decode \(encoded.format) images; use PNG, JPEG or WebP"))
            }
            return
        }
        let image = try Self.converted { () throws(NetError) in try encoded.decoded(by: options) }
        try say(Self.line(encoded, image), to: writesToStandardOutput)
        if let output {
            try write(try Self.converted { () throws(NetError) in try image.png() }, to: output)
        }
        try show(encoded)
    }

    private static func converted<Value>(_ convert: () throws(NetError) -> Value) throws(Failure) -> Value {
        do throws(NetError) {
            return try convert()
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

    /// Returns the failure for an error. In this command, only an image can be too large.
    private static func failure(_ error: NetError) -> Failure {
        error.code == .tooLarge ? Failure(ExitCode.tooLarge, error.message) : Failure(error)
    }

    /// Returns the description of an image, such as "jpeg 4000 x 3000, 1203344 bytes -> 512 x 384".
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

    /// Writes text to standard output, or to standard error if the image is written to standard output.
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
        // A character cell is about twice as high as wide, so it shows two pixels, one above the other.
        let width = min(max(1, columns - 1), options.fit?.width ?? .max)
        let height = min(max(2, (rows - 2) * 2), options.fit?.height ?? .max)
        options.fit = .init(width: width, height: height)
        let image = try Self.converted { () throws(NetError) in try encoded.decoded(by: options) }
        try say(ImagePreview.text(of: image, in: colours ?? .indexed), to: false)
    }
}
#endif
