#if Images
import NetKit
import NetKitImages
import Testing

@testable import NetKitCLI

struct ImageCommandTests {
    private func message(_ words: String...) throws -> String {
        try #require(#expect(throws: UsageError.self) { try ImageCommand(words[...]) }).message
    }

    @Test func argumentsAreParsedIntoOptions() throws {
        let command = try ImageCommand(["http://h/a.png", "-o", "out.png", "--max", "512x256", "--preview", "no"])
        #expect(command.url == "http://h/a.png" && command.output == "out.png")
        #expect(command.options.fit == .init(width: 512, height: 256))
        #expect(command.preview == .no && !command.isInsecure)
        let other = try ImageCommand(["-k", "-H", "X-A: 1", "--ignore-orientation", "--max-pixels", "9", "u"])
        #expect(other.isInsecure && other.headers["x-a"] == "1")
        #expect(other.options.ignoresOrientation && other.options.maxPixels == 9)
    }

    @Test func invalidArgumentsAreReportedInOneLine() throws {
        #expect(try message().contains("needs a URL"))
        #expect(try message("a", "b").contains("unexpected 'b'"))
        #expect(try message("--nonsense", "u").contains("unknown option --nonsense"))
        #expect(try message("u", "--max").contains("needs a value"))
        for size in ["512", "x", "0x5", "5x-1", "1x2x3", "9999999x1", "a x b"] {
            #expect(try message("u", "--max", size).contains("invalid --max '\(size)'"))
        }
        #expect(try message("u", "--max-pixels", "0").contains("from 1"))
        #expect(try message("u", "--preview", "maybe").contains("auto, yes or no"))
        #expect(try message("u", "-H", ": x").contains("Name: value"))
    }

    @Test func summaryLineContainsTypeAndSizes() throws {
        let image = try plain(20, 10)
        let encoded = try EncodedImage(try image.png())
        #expect(ImageCommand.line(encoded, image) == "png 20 x 10, \(encoded.bytes.count) bytes -> 20 x 10\n")
        let turned = try EncodedImage(Bytes(try #require(ImageSamples.decoded["turned"])))
        #expect(ImageCommand.line(turned, nil).hasPrefix("jpeg 16 x 8, orientation 6, "))
    }

    @Test func previewDrawsTwoPixelsPerHalfBlock() throws {
        let image = try Image(
            width: 2, height: 3,
            pixels: [255, 0, 0, 255, 255, 0, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 255, 255, 255, 0])
        #expect(
            ImagePreview.text(of: image, in: .direct)
                == "\u{1b}[38;2;255;0;0;48;2;0;255;0m▀▀\u{1b}[0m\n"
                + "\u{1b}[38;2;0;0;255;49m▀\u{1b}[38;2;0;0;0;49m▀\u{1b}[0m\n")
        #expect(ImagePreview.text(of: try plain(1, 2), in: .indexed) == "\u{1b}[38;5;196;48;5;196m▀\u{1b}[0m\n")
    }

    @Test func colorDepthFollowsTheTerminal() {
        #expect(ColourDepth(term: "xterm", colourTerm: "truecolor") == .direct)
        #expect(ColourDepth(term: "xterm-direct", colourTerm: "") == .direct)
        #expect(ColourDepth(term: "screen-256color", colourTerm: "") == .indexed)
        #expect(ColourDepth(term: "vt100", colourTerm: "") == nil)
        #expect(ColourDepth(term: "", colourTerm: "") == nil)
    }
}
#endif
