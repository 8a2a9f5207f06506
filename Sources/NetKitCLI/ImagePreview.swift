#if Images
import NetKitImages

/// Converts an image to text for a terminal. Each character is an upper half block whose foreground colour is the upper
/// pixel and whose background colour is the lower pixel.
enum ImagePreview {
    static func text(of image: Image, in depth: ColourDepth) -> String {
        var text = ""
        for row in stride(from: 0, to: image.height, by: 2) {
            var last = ""
            for column in 0..<image.width {
                let upper = depth.code(colour(of: image, column, row), isForeground: true)
                let lower =
                    row + 1 < image.height
                    ? depth.code(colour(of: image, column, row + 1), isForeground: false) : "49"
                let code = "\u{1b}[\(upper);\(lower)m"
                // The escape sequence is omitted if the colours are the same as before, which is frequent.
                text += code == last ? "▀" : code + "▀"
                last = code
            }
            text += "\u{1b}[0m\n"
        }
        return text
    }

    /// Returns the colour of a pixel on a black background.
    private static func colour(of image: Image, _ column: Int, _ row: Int) -> (red: Int, green: Int, blue: Int) {
        let start = (row * image.width + column) * 4
        let alpha = Int(image.pixels[start + 3])
        func blended(_ channel: Int) -> Int { Int(image.pixels[start + channel]) * alpha / 255 }
        return (blended(0), blended(1), blended(2))
    }
}

/// The number of colours of a terminal.
enum ColourDepth {
    /// 16 million colours.
    case direct
    /// 256 colours, including a 6 × 6 × 6 cube.
    case indexed

    /// Returns the parameters of the escape sequence for a colour (ECMA-48, SGR).
    func code(_ colour: (red: Int, green: Int, blue: Int), isForeground: Bool) -> String {
        let parameter = isForeground ? "38" : "48"
        switch self {
        case .direct:
            return "\(parameter);2;\(colour.red);\(colour.green);\(colour.blue)"
        case .indexed:
            func step(_ value: Int) -> Int { (value * 5 + 127) / 255 }
            return "\(parameter);5;\(16 + 36 * step(colour.red) + 6 * step(colour.green) + step(colour.blue))"
        }
    }

    /// Determines the depth from the values of TERM and COLORTERM. Returns `nil` if the terminal has no colours.
    init?(term: String, colourTerm: String) {
        if ["truecolor", "24bit"].contains(colourTerm) || term.hasSuffix("-direct") {
            self = .direct
        } else if term.contains("256color") {
            self = .indexed
        } else {
            return nil
        }
    }
}
#endif
