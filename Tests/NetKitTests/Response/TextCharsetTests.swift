import NetKit
import Testing

/// Detection of a text's charset if Content-Type has none, or if other sources differ.
struct TextCharsetTests {
    private func read(_ bytes: [UInt8], _ type: String? = "text/plain") throws -> String {
        let headers: Headers = type.map { ["Content-Type": $0] } ?? [:]
        return try Response(status: 200, headers: headers, bytes: Bytes(bytes)).decode(by: .text)
    }

    private func error(_ bytes: [UInt8], _ type: String) throws -> NetError {
        try #require(throws: NetError.self) { _ = try read(bytes, type) }
    }

    @Test(
        arguments: [
            ("text/plain", [0xEF, 0xBB, 0xBF, 0x61]), ("text/plain; charset=iso-8859-1", [0xEF, 0xBB, 0xBF, 0x61]),
            ("text/plain", [0xFE, 0xFF, 0, 0x61]), ("text/plain; charset=utf-8", [0xFF, 0xFE, 0x61, 0]),
            ("text/plain; charset=utf-16", [0xFE, 0xFF, 0, 0x61]),
            ("text/plain; charset=utf-16le", [0xFF, 0xFE, 0x61, 0]),
            ("text/plain; charset=utf-32", [0xFF, 0xFE, 0, 0, 0x61, 0, 0, 0]),
            ("text/plain", [0, 0, 0xFE, 0xFF, 0, 0, 0, 0x61]), ("text/plain; charset=UTF-16", [0x61, 0]),
            ("text/plain; charset=utf-16be", [0, 0x61]), ("text/plain; charset=utf-32le", [0x61, 0, 0, 0]),
            ("text/plain; charset=utf-32be", [0, 0, 0, 0x61]), ("text/plain; charset=utf-32", [0x61, 0, 0, 0]),
        ] as [(String, [UInt8])])
    func byteOrderMarkTakesPrecedenceAndIsRemoved(type: String, bytes: [UInt8]) throws {
        #expect(try read(bytes, type) == "a")
    }

    @Test func onlyTheFirstByteOrderMarkIsRemoved() throws {
        #expect(try read([0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF]) == "\u{FEFF}")
        #expect(try read([0xEF, 0xBB, 0xBF]) == "")
        #expect(try read([0xFF, 0xFE, 0, 0], "text/plain; charset=utf-16") == "\0")
        #expect(try read([0xC3, 0xA9], nil) == "é")
        let cut = try error([0xEF, 0xBB, 0xBF, 0x61, 0xFF], "text/plain")
        #expect(cut.code == .badCharset && cut.offset == 4)
    }

    @Test(
        arguments: [
            (["iso-8859-15", "latin-9"], [0xA4], "€"), (["windows-1250"], [0xBE], "ľ"),
            (["windows-1251", "x-cp1251"], [0xE9], "й"),
            (["windows-1253"], [0xE1], "α"), (["windows-1254", "iso-8859-9"], [0xFE], "ş"),
            (["windows-1255"], [0xE0], "א"),
            (["windows-1256"], [0xC7], "ا"), (["windows-1257"], [0xE6], "ę"), (["windows-1258"], [0xFE], "₫"),
            (["koi8-r"], [0xC1], "а"), (["euc-kr", "ks_c_5601-1987", "windows-949"], [0xB0, 0xA1], "가"),
            (["euc-jp", "x-euc-jp"], [0xC6, 0xFC], "日"),
            (["shift_jis", "x-sjis", "sjis", "windows-31j", "ms_kanji"], [0x93, 0xFA, 0x5C, 0x7E], "日\\~"),
            (["big5", "x-x-big5"], [0xA4, 0xA4], "中"), (["gbk", "x-gbk", "gb2312", "gb_2312-80"], [0xD6, 0xD0], "中"),
            (["iso-2022-jp"], [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x1B, 0x28, 0x42], "日"),
            (["unicode-1-1-utf-8"], [0xC3, 0xA9], "é"),
            (["gb2312", "chinese", "gb_2312-80"], [0xE9, 0x46], "镕"),
            (["euc-kr", "korean", "ks_c_5601-1987"], [0x8C, 0x63, 0x81, 0x41], "똠갂"),
            (["big5", "big5-hkscs", "csbig5"], [0x9D, 0xF8, 0xA1, 0x45], "啲‧"),
            (["iso-8859-1", "latin1", "us-ascii", "ascii"], [0x80, 0xE9, 0x81], "€é\u{81}"),
            (["tis-620", "iso-8859-11"], [0x80, 0xA1], "€ก"), (["iso-8859-9", "latin5"], [0x80, 0xFD], "€ı"),
            (["x-mac-roman", "macintosh"], [0x8E, 0xF0], "é\u{F8FF}"), (["iso-8859-6-i"], [0xC8], "ب"),
            (["iso-8859-8-i", "logical", "visual"], [0xE0], "א"), (["l9", "iso885915"], [0xA4], "€"),
            (["koi8-u", "koi8-ru"], [0xAE], "ў"), (["x-user-defined"], [0x80, 0xFF], "\u{F780}\u{F7FF}"),
            (["unicode", "ucs-2", "utf-16"], [0x61, 0], "a"), (["unicodefffe"], [0, 0x61], "a"),
            (["866", "ibm866"], [0x80], "А"),
        ] as [([String], [UInt8], String)])
    func manyCharsetsAreDecoded(names: [String], bytes: [UInt8], text: String) throws {
        for name in names {
            #expect(try read(bytes, "text/plain; charset=\(name)") == text)
            #expect(try read(bytes, "text/plain; x=\"a;charset=klingon\"; charset=\"\(name.uppercased())\"") == text)
        }
    }

    @Test(
        arguments: [
            "<meta charset=windows-1252>", "<META\nCharSet = 'windows-1252' />", "<meta/charset=\"windows-1252\">",
            "<!-- <meta charset=utf-8> --><html lang=a><meta charset=windows-1252>",
            "<!DOCTYPE html><?x <meta charset=utf-8 ?><meta name=x content='charset=utf-8'><meta charset=windows-1252>",
            "<meta http-equiv=\"Content-Type\" content=\"text/html; charset=windows-1252\">",
            "<meta content='charset;charset = \"windows-1252\"' http-equiv=content-type>",
            "<meta charset=windows-1252 charset=utf-8>",
            "<metax charset=utf-8><a b=\"<meta charset=utf-8>\"></a x=1><meta charset=windows-1252>",
            "<meta charset=\"\"><meta charset=\"x-user-defined\">",
        ])
    func htmlMetaCharsetIsUsed(markup: String) throws {
        #expect(try read(Array(markup.utf8) + [0x80], "text/html") == markup + "€")
        // The charset of Content-Type takes precedence.
        #expect(try read(Array(markup.utf8) + [0xE9], "text/html; charset=iso-8859-1") == markup + "é")
        // Other types have no meta elements.
        #expect(try error(Array(markup.utf8) + [0x80], "text/plain").offset == markup.utf8.count)
    }

    @Test(
        arguments: [
            "", "<meta charset=utf-16>", "<meta content='text/html; charset=iso-8859-1'>", "<!-- <meta charset=latin1>",
            "<meta charset", "<meta http-equiv=content-type content='charset='>", "<", "</", "<!-",
            "<meta charset='latin1",
            "<p>\(String(repeating: "x", count: 1024))<meta charset=latin1>", "<a b='<meta charset=latin1>",
        ])
    func htmlWithoutACharsetIsUTF8(markup: String) throws {
        #expect(try read(Array((markup + "é").utf8), "text/html") == markup + "é")
    }

    @Test func xmlDeclarationCharsetIsUsed() throws {
        let text = "<?xml version='1.0' encoding='ISO-8859-1'?><a>"
        for type in ["application/xml", "text/xml", "image/svg+xml"] {
            #expect(try read(Array(text.utf8) + [0xE9], type) == text + "é")
        }
        #expect(try read(Array("<?xml version='1.0'?>é".utf8), "text/xml") == "<?xml version='1.0'?>é")
        #expect(throws: NetError.self) { try read(Array(" <?xml encoding='latin1'?>".utf8) + [0xE9], "text/xml") }
    }

    @Test(
        arguments: [
            ("charset=\"ut\\f-8\"", "é"), ("charset=\"\\u\\t\\f\\-8\"; x=y", "é"), ("charset=\"utf-8", "é"),
            ("charset=\" utf-8\t\"", "é"), ("charset = \"utf-8\"", "é"), ("charset=\"utf-8\"x;charset=latin1", "é"),
            ("charset=;charset=latin1", "Ã©"), ("charset=\"\";charset=latin1", "é"), ("charset;charset=latin1", "Ã©"),
            ("x=\"\\\";charset=klingon\\\";\";charset=latin1", "Ã©"), ("x=\"charset=klingon", "é"),
        ])
    func charsetParameterIsParsedByRFC9110(parameter: String, text: String) throws {
        #expect(try read([0xC3, 0xA9], "text/plain; \(parameter)") == text)
    }

    @Test(arguments: ["ut\\f-8", "'utf-8", "'klingon'", "\"ut\\\\f-8\"", "iso-2022-kr", "hz-gb-2312", "replacement"])
    func otherLabelsAreRefused(label: String) throws {
        #expect(try error([0x61], "text/plain; charset=\(label)").code == .badCharset)
    }

    @Test(arguments: ["'utf-8'", "\"'UTF-8'\"", "' utf-8 '"])
    func singleQuotesAreRemovedFromALabel(label: String) throws {
        #expect(try read([0xC3, 0xA9], "text/plain; charset=\(label)") == "é")
    }

    @Test(arguments: ["unicode", "csunicode", "unicodeFFFE", "UTF-16BE"])
    func markupCharsetIsNeverUTF16(label: String) throws {
        #expect(try read(Array("<meta charset=\(label)>é".utf8), "text/html") == "<meta charset=\(label)>é")
    }

    @Test func defaultCharsetIsSetByTheCaller() throws {
        let response = Response(status: 200, bytes: [0xE9])
        #expect(try response.decode(by: Decoding<String>.text(otherwise: "iso-8859-1")) == "é")
        let marked = Response(status: 200, bytes: [0xEF, 0xBB, 0xBF, 0xC3, 0xA9])
        #expect(try marked.decode(by: Decoding<String>.text(otherwise: "iso-8859-1")) == "é")
    }

    @Test func unknownCharsetIsReportedByName() throws {
        for type in ["text/html", "text/html; charset=klingon"] {
            let error = try error(Array("<meta charset=klingon>".utf8), type)
            #expect(error.code == .badCharset && error.message.contains("klingon"))
        }
    }
}
