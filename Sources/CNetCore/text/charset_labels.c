#include "text/charset.h"

#include <string.h>

// clang-format off
static const charset_encoding encodings[] = {
    {"UTF-8", CHARSET_UTF8, "UTF-8", "UTF-8", "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8"},
    {"IBM866", CHARSET_BYTES, "IBM866", NULL, "866 cp866 csibm866 ibm866"},
    {"ISO-8859-2", CHARSET_BYTES, "ISO-8859-2", NULL, "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2"},
    {"ISO-8859-3", CHARSET_BYTES, "ISO-8859-3", NULL, "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3"},
    {"ISO-8859-4", CHARSET_BYTES, "ISO-8859-4", NULL, "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4"},
    {"ISO-8859-5", CHARSET_BYTES, "ISO-8859-5", NULL, "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988"},
    {"ISO-8859-6", CHARSET_BYTES, "ISO-8859-6", NULL, "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987"},
    {"ISO-8859-7", CHARSET_BYTES, "ISO-8859-7", NULL, "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987 sun_eu_greek"},
    {"ISO-8859-8", CHARSET_BYTES, "ISO-8859-8", NULL, "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 visual"},
    {"ISO-8859-8-I", CHARSET_BYTES, "ISO-8859-8", NULL, "csiso88598i iso-8859-8-i logical"},
    {"ISO-8859-10", CHARSET_BYTES, "ISO-8859-10", NULL, "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6"},
    {"ISO-8859-13", CHARSET_BYTES, "ISO-8859-13", NULL, "iso-8859-13 iso8859-13 iso885913"},
    {"ISO-8859-14", CHARSET_BYTES, "ISO-8859-14", NULL, "iso-8859-14 iso8859-14 iso885914"},
    {"ISO-8859-15", CHARSET_BYTES, "ISO-8859-15", NULL, "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9"},
    {"ISO-8859-16", CHARSET_BYTES, "ISO-8859-16", NULL, "iso-8859-16"},
    {"KOI8-R", CHARSET_BYTES, "KOI8-R", NULL, "cskoi8r koi koi8 koi8-r koi8_r"},
    {"KOI8-U", CHARSET_BYTES, "KOI8-U", NULL, "koi8-ru koi8-u"},
    {"macintosh", CHARSET_BYTES, "MACINTOSH", NULL, "csmacintosh mac macintosh x-mac-roman"},
    {"windows-874", CHARSET_BYTES, "CP874", NULL, "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874"},
    {"windows-1250", CHARSET_BYTES, "CP1250", NULL, "cp1250 windows-1250 x-cp1250"},
    {"windows-1251", CHARSET_BYTES, "CP1251", NULL, "cp1251 windows-1251 x-cp1251"},
    {"windows-1252", CHARSET_BYTES, "CP1252", NULL, "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252"},
    {"windows-1253", CHARSET_BYTES, "CP1253", NULL, "cp1253 windows-1253 x-cp1253"},
    {"windows-1254", CHARSET_BYTES, "CP1254", NULL, "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 windows-1254 x-cp1254"},
    {"windows-1255", CHARSET_BYTES, "CP1255", NULL, "cp1255 windows-1255 x-cp1255"},
    {"windows-1256", CHARSET_BYTES, "CP1256", NULL, "cp1256 windows-1256 x-cp1256"},
    {"windows-1257", CHARSET_BYTES, "CP1257", NULL, "cp1257 windows-1257 x-cp1257"},
    {"windows-1258", CHARSET_BYTES, "CP1258", NULL, "cp1258 windows-1258 x-cp1258"},
    {"x-mac-cyrillic", CHARSET_BYTES, "MAC-CYRILLIC", NULL, "x-mac-cyrillic x-mac-ukrainian"},
    {"GBK", CHARSET_GB18030, "GB18030", "GBK", "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk"},
    {"gb18030", CHARSET_GB18030, "GB18030", "GB18030", "gb18030"},
    {"Big5", CHARSET_BIG5, "BIG5-HKSCS", "BIG5", "big5 big5-hkscs cn-big5 csbig5 x-x-big5"},
    {"EUC-JP", CHARSET_EUC_JP, "CP932", "EUC-JP-MS", "cseucpkdfmtjapanese euc-jp x-euc-jp"},
    {"ISO-2022-JP", CHARSET_ISO_2022_JP, "CP932", "ISO-2022-JP", "csiso2022jp iso-2022-jp"},
    {"Shift_JIS", CHARSET_SHIFT_JIS, "CP932", "CP932", "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis"},
    {"EUC-KR", CHARSET_EUC_KR, "CP949", "CP949", "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949"},
    {"replacement", CHARSET_REPLACEMENT, NULL, NULL, "csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement"},
    {"UTF-16BE", CHARSET_ICONV, "UTF-16BE", "UTF-16BE", "unicodefffe utf-16be"},
    {"UTF-16LE", CHARSET_UTF16, "UTF-16LE", "UTF-16LE", "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le"},
    {"x-user-defined", CHARSET_BYTES, NULL, NULL, "x-user-defined"},
};
// clang-format on

static bool is_space(uint8_t c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

nc_slice nc_charset_label_trim(nc_slice label) {
    while (label.length > 0 && is_space(label.data[0])) {
        label.data++;
        label.length--;
    }
    while (label.length > 0 && is_space(label.data[label.length - 1])) {
        label.length--;
    }
    return label;
}

/// Returns true if `list`, words separated by one space, contains `word`.
static bool has_word(const char *list, nc_slice word) {
    while (*list != '\0') {
        size_t length = strcspn(list, " ");
        if (nc_slice_is_equal_ignoring_case(word, nc_slice_make(list, length))) {
            return true;
        }
        list += length + (list[length] == ' ' ? 1 : 0);
    }
    return false;
}

const charset_encoding *nc_charset_find_label(nc_slice label) {
    nc_slice trimmed = nc_charset_label_trim(label);
    for (size_t i = 0; i < sizeof encodings / sizeof encodings[0]; i++) {
        if (trimmed.length > 0 && has_word(encodings[i].labels, trimmed)) {
            return &encodings[i];
        }
    }
    return NULL;
}

bool nc_charset_label_lacks(nc_slice label, const charset_encoding *encoding, uint8_t byte) {
    nc_slice trimmed = nc_charset_label_trim(label);
    if (has_word("ansi_x3.4-1968 ascii us-ascii", trimmed)) {
        return byte >= 0x80;
    }
    static const char *const windows_labels[] = {"windows-", "cp125", "x-cp125", "dos-"};
    bool is_iso = strncmp(encoding->name, "windows-", 8) == 0;
    for (size_t i = 0; i < sizeof windows_labels / sizeof windows_labels[0]; i++) {
        size_t length = strlen(windows_labels[i]);
        bool has_prefix =
            trimmed.length > length && nc_slice_is_equal_ignoring_case(nc_slice_make(trimmed.data, length),
                                                                       nc_slice_make(windows_labels[i], length));
        is_iso = is_iso && !has_prefix;
    }
    return is_iso && byte >= 0x80 && byte < 0xA0;
}

const char *nc_charset_name(nc_slice label) {
    const charset_encoding *encoding = label.data == NULL ? NULL : nc_charset_find_label(label);
    return encoding == NULL ? NULL : encoding->name;
}
