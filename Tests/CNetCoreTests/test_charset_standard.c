/// The encodings and labels of the WHATWG Encoding Standard.
#include "harness.h"

#include <netcore/charset.h>
#include <stdio.h>
#include <string.h>

/// FNV-1a over the UTF-8 of every character in the standard's index, one a line; "!" for a gap. The sums were
/// computed from the standard's index files (of 2026).
static const struct {
    const char *name;
    size_t length;
    uint64_t sum;
} indexes[] = {
    {"IBM866", 1, 0x31ea444d3fe8381au},
    {"ISO-8859-2", 1, 0x7bf742f57e2b697cu},
    {"ISO-8859-3", 1, 0xd010e494b40ffaf3u},
    {"ISO-8859-4", 1, 0xeea4198fbc544ef5u},
    {"ISO-8859-5", 1, 0x97b02d7192514d0du},
    {"ISO-8859-6", 1, 0xbb1df0935e0904dau},
    {"ISO-8859-7", 1, 0xb89e36e2eac8017bu},
    {"ISO-8859-8", 1, 0x539844ebe07fefc1u},
    {"ISO-8859-8-I", 1, 0x539844ebe07fefc1u},
    {"ISO-8859-10", 1, 0xbebc9ac169a9403fu},
    {"ISO-8859-13", 1, 0xa14e384452070e3du},
    {"ISO-8859-14", 1, 0x213f5018f826bd93u},
    {"ISO-8859-15", 1, 0xfabe039d6f139232u},
    {"ISO-8859-16", 1, 0x2771e117b9a2af64u},
    {"KOI8-R", 1, 0x550df8c6df896b31u},
    {"KOI8-U", 1, 0x48062d21cfc9299du},
    {"macintosh", 1, 0x36fb12d0bbc05609u},
    {"windows-874", 1, 0xb009b4f5ee1e1429u},
    {"windows-1250", 1, 0x69e3152f951e4911u},
    {"windows-1251", 1, 0x979507a6a9b81be1u},
    {"windows-1252", 1, 0xab41f17facf4b948u},
    {"windows-1253", 1, 0xebfe47dbf394542eu},
    {"windows-1254", 1, 0x00e387a39ebdc324u},
    {"windows-1255", 1, 0x078ce4400f8e2705u},
    {"windows-1256", 1, 0x514f4a39d7c362ebu},
    {"windows-1257", 1, 0x2496c449af87b51eu},
    {"windows-1258", 1, 0xcf3c5cdc59f5ea9fu},
    {"x-mac-cyrillic", 1, 0x53fd8100af881e6fu},
    {"GBK", 2, 0xd4ae73c2ef204a1bu},
    {"gb18030", 2, 0xd4ae73c2ef204a1bu},
    {"Big5", 2, 0xce490a694c94bffdu},
    {"EUC-JP", 2, 0x2ec8d187b3efc0f3u},
    {"Shift_JIS", 2, 0xab0968bec18728e3u},
    {"EUC-KR", 2, 0x0c05d1ac37cd7909u},
    {"x-user-defined", 1, 0x05fb80c38d336465u},
};

static const struct {
    const char *name;
    const char *labels;
} labels[] = {
    {"UTF-8", "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8"},
    {"IBM866", "866 cp866 csibm866 ibm866"},
    {"ISO-8859-2", "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2"},
    {"ISO-8859-3", "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3"},
    {"ISO-8859-4", "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4"},
    {"ISO-8859-5", "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988"},
    {"ISO-8859-6", "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e "
                   "iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987"},
    {"ISO-8859-7", "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 "
                   "iso_8859-7 iso_8859-7:1987 sun_eu_greek"},
    {"ISO-8859-8", "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 "
                   "iso_8859-8 iso_8859-8:1988 visual"},
    {"ISO-8859-8-I", "csiso88598i iso-8859-8-i logical"},
    {"ISO-8859-10", "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6"},
    {"ISO-8859-13", "iso-8859-13 iso8859-13 iso885913"},
    {"ISO-8859-14", "iso-8859-14 iso8859-14 iso885914"},
    {"ISO-8859-15", "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9"},
    {"ISO-8859-16", "iso-8859-16"},
    {"KOI8-R", "cskoi8r koi koi8 koi8-r koi8_r"},
    {"KOI8-U", "koi8-ru koi8-u"},
    {"macintosh", "csmacintosh mac macintosh x-mac-roman"},
    {"windows-874", "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874"},
    {"windows-1250", "cp1250 windows-1250 x-cp1250"},
    {"windows-1251", "cp1251 windows-1251 x-cp1251"},
    {"windows-1252", "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 "
                     "iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252"},
    {"windows-1253", "cp1253 windows-1253 x-cp1253"},
    {"windows-1254", "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 "
                     "latin5 windows-1254 x-cp1254"},
    {"windows-1255", "cp1255 windows-1255 x-cp1255"},
    {"windows-1256", "cp1256 windows-1256 x-cp1256"},
    {"windows-1257", "cp1257 windows-1257 x-cp1257"},
    {"windows-1258", "cp1258 windows-1258 x-cp1258"},
    {"x-mac-cyrillic", "x-mac-cyrillic x-mac-ukrainian"},
    {"GBK", "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk"},
    {"gb18030", "gb18030"},
    {"Big5", "big5 big5-hkscs cn-big5 csbig5 x-x-big5"},
    {"EUC-JP", "cseucpkdfmtjapanese euc-jp x-euc-jp"},
    {"ISO-2022-JP", "csiso2022jp iso-2022-jp"},
    {"Shift_JIS", "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis"},
    {"EUC-KR", "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 "
               "windows-949"},
    {"replacement", "csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement"},
    {"UTF-16BE", "unicodefffe utf-16be"},
    {"UTF-16LE", "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le"},
    {"x-user-defined", "x-user-defined"},
};

static uint64_t add_to_sum(uint64_t sum, nc_slice text) {
    for (size_t i = 0; i < text.length; i++) {
        sum = (sum ^ text.data[i]) * 0x100000001b3u;
    }
    return sum;
}

/// Adds the text of `bytes`, or "!" if they are rejected, and a line feed.
static uint64_t add_text(uint64_t sum, nc_slice bytes, const char *charset) {
    nc_buf out = nc_buf_init(64);
    bool is_text = nc_charset_to_utf8(&out, bytes, nc_slice_of(charset), NULL) == NC_OK;
    sum = add_to_sum(sum, is_text ? nc_buf_slice(&out) : nc_slice_of("!"));
    nc_buf_deinit(&out);
    return add_to_sum(sum, nc_slice_of("\n"));
}

static const uint64_t empty_sum = 0xcbf29ce484222325u;

static void charset__every_index_matches_the_standard(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof indexes / sizeof indexes[0]; i++) {
        uint64_t sum = empty_sum;
        for (unsigned first = 0x80; first < 0x100; first++) {
            for (unsigned second = 0; second < (indexes[i].length == 1 ? 1 : 0x100); second++) {
                uint8_t bytes[] = {(uint8_t)first, (uint8_t)second};
                sum = add_text(sum, nc_slice_make(bytes, indexes[i].length), indexes[i].name);
            }
        }
        if (sum != indexes[i].sum) {
            print_error("%s\n", indexes[i].name);
        }
        assert_true(sum == indexes[i].sum);
    }
}

static void charset__longer_sequences_match_the_standard(void **state) {
    (void)state;
    uint64_t supplement = empty_sum;
    for (unsigned row = 0xA1; row < 0xFF; row++) {
        for (unsigned cell = 0xA1; cell < 0xFF; cell++) {
            uint8_t bytes[] = {0x8F, (uint8_t)row, (uint8_t)cell};
            supplement = add_text(supplement, nc_slice_make(bytes, 3), "euc-jp");
        }
    }
    assert_true(supplement == 0x8423aa912dc28fd1u);
    static const unsigned ranges[][2] = {{0, 39430}, {188998, 189100}, {1237500, 1237600}};
    uint64_t four = empty_sum;
    for (size_t i = 0; i < 3; i++) {
        for (unsigned n = ranges[i][0]; n < ranges[i][1]; n++) {
            uint8_t bytes[] = {(uint8_t)(n / 12600 + 0x81), (uint8_t)(n / 1260 % 10 + 0x30),
                               (uint8_t)(n / 10 % 126 + 0x81), (uint8_t)(n % 10 + 0x30)};
            four = add_text(four, nc_slice_make(bytes, 4), "gb18030");
        }
    }
    assert_true(four == 0xc0a6989544a2cb44u);
    uint64_t kanji = empty_sum;
    for (unsigned row = 0x20; row < 0x80; row++) {
        for (unsigned cell = 0x20; cell < 0x80; cell++) {
            uint8_t bytes[] = {0x1B, '$', 'B', (uint8_t)row, (uint8_t)cell};
            kanji = add_text(kanji, nc_slice_make(bytes, 5), "iso-2022-jp");
        }
    }
    assert_true(kanji == 0x614d442c51b6141eu);
}

/// Returns a spelling of a label in capitals, with surrounding blanks.
static nc_slice spell_differently(char out[80], const char *label, size_t length) {
    int written = snprintf(out, 80, " \t\n\f\r%.*s \r", (int)length, label);
    for (int i = 0; i < written; i++) {
        out[i] = (char)(out[i] >= 'a' && out[i] <= 'z' ? out[i] - 32 : out[i]);
    }
    return nc_slice_make(out, (size_t)written);
}

static void charset__all_labels_of_the_standard_are_known(void **state) {
    (void)state;
    size_t count = 0;
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        const char *label = labels[i].labels;
        while (*label != '\0') {
            char text[80];
            size_t length = strcspn(label, " ");
            assert_string_equal(nc_charset_name(nc_slice_make(label, length)), labels[i].name);
            assert_string_equal(nc_charset_name(spell_differently(text, label, length)), labels[i].name);
            nc_buf out = nc_buf_init(8);
            assert_status(nc_charset_to_utf8(&out, nc_slice_of(""), spell_differently(text, label, length), NULL),
                          NC_OK);
            nc_buf_deinit(&out);
            label += length + (label[length] == ' ' ? 1 : 0);
            count++;
        }
    }
    assert_int_equal(count, 228);
    static const char *const unknown[] = {"",        " ",         "utf-32",  "cp437", "utf 8", "\xC2\xA0utf-8",
                                          "\vutf-8", "latin1 l1", "utf-8\n."};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        assert_null(nc_charset_name(nc_slice_of(unknown[i])));
    }
    assert_null(nc_charset_name(nc_slice_make("utf-8\0", 6)));
}

static void charset__text_in_a_replacement_encoding_is_rejected(void **state) {
    (void)state;
    static const char *const names[] = {"iso-2022-kr", "HZ-GB-2312", "iso-2022-cn", "replacement"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        nc_buf out = nc_buf_init(8);
        nc_error err;
        assert_status(nc_charset_to_utf8(&out, nc_slice_of("a"), nc_slice_of(names[i]), &err), NC_ERR_BAD_CHARSET);
        assert_int_equal(err.offset, 0);
        assert_status(nc_charset_from_utf8(&out, nc_slice_of("a"), nc_slice_of(names[i]), &err), NC_ERR_BAD_CHARSET);
        nc_buf_deinit(&out);
    }
}

static void charset__iso_2022_jp_escapes_are_strict(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        const char *text; // NULL: rejected at `offset`
        int64_t offset;
    } rows[] = {
        {"\x1B(J\\~\x1B(I1\x1B(B\\~", "\xC2\xA5\xE2\x80\xBE\xEF\xBD\xB1\\~", 0},
        {"a\x1B$@F|\x1B(B", "a\xE6\x97\xA5", 0},
        {"\x1B$BF|\x1B$B-!\x1B(J", "\xE6\x97\xA5\xE2\x91\xA0", 0},
        {"\x1B$B\x1B(Ba", NULL, 3},
        {"a\x0E", NULL, 1},
        {"a\x80", NULL, 1},
        {"\x1B$BF\n", NULL, 3},
        {"\x1B$B\n", NULL, 3},
        {"a\x1B", NULL, 1},
        {"a\x1B$", NULL, 1},
        {"a\x1B$C", NULL, 1},
        {"\x1B$BF", NULL, 3},
        {"\x1B(I\x60", NULL, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nc_buf out = nc_buf_init(64);
        nc_error err;
        nc_status status = nc_charset_to_utf8(&out, nc_slice_of(rows[i].bytes), nc_slice_of("iso-2022-jp"), &err);
        assert_status(status, rows[i].text == NULL ? NC_ERR_BAD_CHARSET : NC_OK);
        assert_slice_equals(nc_buf_slice(&out), rows[i].text == NULL ? "" : rows[i].text);
        assert_int_equal(err.offset, rows[i].text == NULL ? rows[i].offset : -1);
        nc_buf_deinit(&out);
    }
}

static void charset__utf_16_without_a_byte_order_follows_its_byte_order_mark(void **state) {
    (void)state;
    static const struct {
        const char *charset;
        const char *bytes;
        size_t length;
        const char *text;
    } rows[] = {
        {"utf-16", "\xFE\xFF\0a", 4, "a"},
        {"utf-16",
         "\xFF\xFE"
         "a\0",
         4, "a"},
        {"unicode", "a\0", 2, "a"},
        {"ucs-2", "\xFE\xFF", 2, ""},
        {"UTF-16LE",
         "\xFF\xFE"
         "a\0",
         4,
         "\xEF\xBB\xBF"
         "a"},
        {"unicodefffe", "\0a", 2, "a"},
        {"utf-16", "", 0, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        nc_buf out = nc_buf_init(64);
        nc_slice bytes = nc_slice_make(rows[i].bytes, rows[i].length);
        assert_status(nc_charset_to_utf8(&out, bytes, nc_slice_of(rows[i].charset), NULL), NC_OK);
        assert_slice_equals(nc_buf_slice(&out), rows[i].text);
        nc_buf_deinit(&out);
    }
}

/// A text in each kind of charset, with characters that iconv alone converts differently.
static const struct {
    const char *charset;
    const char *bytes;
    size_t length;
} pieces[] = {
#define PIECES(charset, bytes)                                                                                         \
    { charset, bytes, sizeof bytes - 1 }
    PIECES("utf-8", "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x8E\x89z"),
    PIECES("koi8-u", "a\xAE\xBEz"),
    PIECES("gbk", "a\x80\xA3\xA0\x81\x35\xF4\x37\x82\x35\x90\x37\xD6\xD0z"),
    PIECES("big5", "a\x88\x62\x88\x66\x88\xA3\x8E\x69\xA1\x45\xA4\xA4z"),
    PIECES("euc-jp", "a\xC6\xFC\x8E\xB1\x8F\xB0\xA1\xF9\xA1z"),
    PIECES("iso-2022-jp", "a\x1B$BF|-!\x1B(I1\x1B(Jz"),
    PIECES("shift_jis", "a\x93\xFA\xB1\x80z"),
    PIECES("euc-kr", "a\x81\x41\xB0\xA1z"),
    PIECES("utf-16", "\xFE\xFF\0a\xD8\x3D\xDE\0"),
    PIECES("utf-32be", "\0\0\0a\0\1\xF6\0"),
    PIECES("utf-7", "a+ZeU-z+ZeU-"),
};

static void charset__splitting_the_input_does_not_change_the_text(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        nc_buf whole = nc_buf_init(100);
        nc_slice name = nc_slice_of(pieces[i].charset);
        nc_error err;
        if (nc_charset_to_utf8(&whole, nc_slice_make(pieces[i].bytes, pieces[i].length), name, &err) != NC_OK) {
            print_error("%s: %s\n", pieces[i].charset, err.message);
        }
        assert_status(whole.status, NC_OK);
        for (size_t step = 1; step <= pieces[i].length; step++) {
            nc_charset_decoder *decoder = NULL;
            nc_buf out = nc_buf_init(100);
            assert_status(nc_charset_decoder_new(&decoder, name, NULL), NC_OK);
            for (size_t at = 0; at < pieces[i].length; at += step) {
                size_t count = pieces[i].length - at < step ? pieces[i].length - at : step;
                guarded piece = guarded_copy(nc_slice_make(pieces[i].bytes + at, count));
                assert_status(nc_charset_decoder_feed(decoder, &out, piece.slice, NULL), NC_OK);
                guarded_deinit(&piece);
            }
            assert_status(nc_charset_decoder_finish(decoder, &out, NULL), NC_OK);
            assert_true(nc_slice_is_equal(nc_buf_slice(&out), nc_buf_slice(&whole)));
            nc_charset_decoder_free(decoder);
            nc_buf_deinit(&out);
        }
        nc_buf_deinit(&whole);
    }
}

static void charset__offsets_count_from_the_first_piece(void **state) {
    (void)state;
    nc_charset_decoder *decoder = NULL;
    nc_buf out = nc_buf_init(100);
    nc_error err;
    assert_status(nc_charset_decoder_new(&decoder, nc_slice_of("gb2312"), NULL), NC_OK);
    assert_status(nc_charset_decoder_feed(decoder, &out, nc_slice_of("ab\xD6"), NULL), NC_OK);
    assert_status(nc_charset_decoder_feed(decoder, &out, nc_slice_of("\xD0\xD6"), NULL), NC_OK);
    assert_status(nc_charset_decoder_feed(decoder, &out, nc_slice_of("!"), &err), NC_ERR_BAD_CHARSET);
    assert_int_equal(err.offset, 4);
    nc_charset_decoder_free(decoder);
    assert_status(nc_charset_decoder_new(&decoder, nc_slice_of("big5"), NULL), NC_OK);
    assert_status(nc_charset_decoder_feed(decoder, &out, nc_slice_of("abc\xA4"), NULL), NC_OK);
    assert_status(nc_charset_decoder_finish(decoder, &out, &err), NC_ERR_BAD_CHARSET);
    assert_int_equal(err.offset, 3);
    nc_charset_decoder_free(decoder);
    assert_status(nc_charset_decoder_new(&decoder, nc_slice_of("klingon"), &err), NC_ERR_BAD_CHARSET);
    assert_null(decoder);
    nc_charset_decoder_free(NULL);
    nc_buf_deinit(&out);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(charset__every_index_matches_the_standard),
        harness_case(charset__longer_sequences_match_the_standard),
        harness_case(charset__all_labels_of_the_standard_are_known),
        harness_case(charset__text_in_a_replacement_encoding_is_rejected),
        harness_case(charset__iso_2022_jp_escapes_are_strict),
        harness_case(charset__utf_16_without_a_byte_order_follows_its_byte_order_mark),
        harness_case(charset__splitting_the_input_does_not_change_the_text),
        harness_case(charset__offsets_count_from_the_first_piece),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
