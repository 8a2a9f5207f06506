#if Images
import NetKit
import NetKitImages

/// Small images that were made by other encoders.
enum ImageSamples {
    /// 16 by 8 pixels, the left half red and the right half blue. "turned" has EXIF orientation 6.
    static let decoded: [String: [UInt8]] = texts.mapValues { text in
        (try? Bytes(base64Text: text.filter { $0 != "\n" })).map(Array.init) ?? []
    }

    private static let texts = [
        "jpeg": """
        /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxO
        UlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09P
        T09PT09PT0//wAARCAAIABADASIAAhEBAxEB/8QAFgABAQEAAAAAAAAAAAAAAAAAAAUG/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/E
        ABQBAQAAAAAAAAAAAAAAAAAAAAX/xAAZEQACAwEAAAAAAAAAAAAAAAAABkOCwcL/2gAMAwEAAhEDEQA/AM+hAYU5q9DzNFbD/9k=
        """,
        "turned": """
        /9j/4AAQSkZJRgABAQAAAQABAAD/4QAiRXhpZgAATU0AKgAAAAgAAQESAAMAAAABAAYAAAAAAAD/2wBDAA0JCgsKCA0LCgsODg0P
        EyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09P
        T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT0//wAARCAAIABADASIAAhEBAxEB/8QAFgABAQEAAAAA
        AAAAAAAAAAAAAAUG/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/EABQBAQAAAAAAAAAAAAAAAAAAAAX/xAAZEQACAwEAAAAAAAAAAAAA
        AAAABkOCwcL/2gAMAwEAAhEDEQA/AM+hAYU5q9DzNFbD/9k=
        """,
        "webp": """
        UklGRiYAAABXRUJQVlA4TBkAAAAvD8ABAA8Q87//8x8OxILJ/KU7U4jof+QAAA==
        """,
    ]

    /// File headers of the recognized formats.
    static let recognized: [(ImageFormat, [UInt8])] = [
        (.gif, Array("GIF89a".utf8) + [3, 0, 2, 0, 0, 0, 0, 0x3B]),
        (
            .bmp,
            Array("BM".utf8) + [58, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 24, 0]
        ),
        (.ico, [0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0]),
        (.tiff, Array("II*".utf8) + [0, 8, 0, 0, 0, 0, 0]),
        (.tiff, Array("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 0]),
    ]
}
#endif
