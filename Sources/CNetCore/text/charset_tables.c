#include "text/charset.h"

#include <errno.h>
#include <string.h>

typedef struct charset_pair {
    uint16_t bytes;
    uint16_t character;
} charset_pair;

/// Big5 sequences, sorted. glibc 2.36 lacks most of them, and converts those from 0xA145 on to other characters.
// clang-format off
static const charset_pair big5_fixes[] = {
    {0x8E69, 0x7BB8}, {0x8E6F, 0x7C06}, {0x8E7E, 0x7CCE}, {0x8EAB, 0x7DD2}, {0x8EB4, 0x7E1D}, {0x8ECD, 0x8005},
    {0x8ED0, 0x8028}, {0x8F57, 0x83C1}, {0x8F69, 0x84A8}, {0x8F6E, 0x840F}, {0x8FCB, 0x89A6}, {0x8FCC, 0x89A9},
    {0x8FFE, 0x8D77}, {0x906D, 0x90FD}, {0x907A, 0x92B9}, {0x90DC, 0x975C}, {0x90F1, 0x97FF}, {0x91BF, 0x9F16},
    {0x9244, 0x8503}, {0x92AF, 0x5159}, {0x92B0, 0x515B}, {0x92B1, 0x515D}, {0x92B2, 0x515E}, {0x92C8, 0x936E},
    {0x92D1, 0x7479}, {0x9447, 0x6D67}, {0x94CA, 0x799B}, {0x95D9, 0x9097}, {0x9644, 0x975D}, {0x96ED, 0x701E},
    {0x96FC, 0x5B28}, {0x9B76, 0x7201}, {0x9B78, 0x77D7}, {0x9B7B, 0x7E87}, {0x9BC6, 0x99D6}, {0x9BDE, 0x91D4},
    {0x9BEC, 0x60DE}, {0x9BF6, 0x6FB6}, {0x9C42, 0x8F36}, {0x9C53, 0x4FBB}, {0x9C62, 0x71DF}, {0x9C68, 0x9104},
    {0x9C6B, 0x9DF0}, {0x9C77, 0x83CF}, {0x9CBC, 0x5C10}, {0x9CBD, 0x79E3}, {0x9CD0, 0x5A67}, {0x9D57, 0x8F0B},
    {0x9D5A, 0x7B51}, {0x9DC4, 0x62D0}, {0x9EA9, 0x6062}, {0x9EEF, 0x75F9}, {0x9EFD, 0x6C4A}, {0x9F60, 0x9B2E},
    {0x9F66, 0x9F17}, {0x9FCB, 0x50ED}, {0x9FD8, 0x5F0C}, {0xA063, 0x880F}, {0xA077, 0x62CE}, {0xA0D5, 0x7468},
    {0xA0DF, 0x7162}, {0xA0E4, 0x7250}, {0xA145, 0x2027}, {0xA14E, 0xFE51}, {0xA15A, 0x2574}, {0xA1C2, 0x00AF},
    {0xA1C3, 0xFFE3}, {0xA1C5, 0x02CD}, {0xA1E3, 0xFF5E}, {0xA1F2, 0x2295}, {0xA1F3, 0x2299}, {0xA1FE, 0xFF0F},
    {0xA240, 0xFF3C}, {0xA241, 0x2215}, {0xA242, 0xFE68}, {0xA244, 0xFFE5}, {0xA246, 0xFFE0}, {0xA247, 0xFFE1},
    {0xA2CC, 0x5341}, {0xA2CE, 0x5345}, {0xA3C0, 0x2400}, {0xA3C1, 0x2401}, {0xA3C2, 0x2402}, {0xA3C3, 0x2403},
    {0xA3C4, 0x2404}, {0xA3C5, 0x2405}, {0xA3C6, 0x2406}, {0xA3C7, 0x2407}, {0xA3C8, 0x2408}, {0xA3C9, 0x2409},
    {0xA3CA, 0x240A}, {0xA3CB, 0x240B}, {0xA3CC, 0x240C}, {0xA3CD, 0x240D}, {0xA3CE, 0x240E}, {0xA3CF, 0x240F},
    {0xA3D0, 0x2410}, {0xA3D1, 0x2411}, {0xA3D2, 0x2412}, {0xA3D3, 0x2413}, {0xA3D4, 0x2414}, {0xA3D5, 0x2415},
    {0xA3D6, 0x2416}, {0xA3D7, 0x2417}, {0xA3D8, 0x2418}, {0xA3D9, 0x2419}, {0xA3DA, 0x241A}, {0xA3DB, 0x241B},
    {0xA3DC, 0x241C}, {0xA3DD, 0x241D}, {0xA3DE, 0x241E}, {0xA3DF, 0x241F}, {0xA3E0, 0x2421}, {0xA3E1, 0x20AC},
    {0xC6CF, 0x5EF4}, {0xC6D3, 0x65E0}, {0xC6D5, 0x7676}, {0xC6D7, 0x96B6}, {0xC6DE, 0x3003}, {0xC6DF, 0x4EDD},
    {0xFA5F, 0x5029}, {0xFA66, 0x507D}, {0xFABD, 0x5305}, {0xFAC5, 0x5344}, {0xFAD5, 0x537F}, {0xFB48, 0x5605},
    {0xFBB8, 0x5A77}, {0xFBF3, 0x5E75}, {0xFBF9, 0x5ED0}, {0xFC4F, 0x5F58}, {0xFC6C, 0x60A4}, {0xFCB9, 0x6490},
    {0xFCE2, 0x6674}, {0xFCF1, 0x675E}, {0xFDB7, 0x6C9C}, {0xFDB8, 0x6E1D}, {0xFDBB, 0x6E2F}, {0xFDF1, 0x716E},
    {0xFE52, 0x732A}, {0xFE6F, 0x745C}, {0xFEAA, 0x74E9}, {0xFEDD, 0x7809},
};
// clang-format on

/// glibc follows GB18030-2022 for these sequences. The WHATWG standard follows the edition of 2005, and has U+3000 for
/// A3A0.
static const charset_pair gb18030_fixes[] = {
    {0xA3A0, 0x3000}, {0xFE51, 0xE816}, {0xFE52, 0xE817}, {0xFE53, 0xE818},
    {0xFE6C, 0xE831}, {0xFE76, 0xE83B}, {0xFE91, 0xE855},
};

/// Ranges of four-byte sequences of GB18030 that glibc lacks. All sequences of a range have the same first two bytes.
static const struct {
    uint16_t lead;
    uint16_t first; // (third byte - 0x81) * 10 + fourth byte - 0x30
    uint16_t count;
    uint16_t character;
} gb18030_ranges[] = {{0x8235, (0x90 - 0x81) * 10 + 7, 8, 0x9FB4}, {0x8431, (0x82 - 0x81) * 10 + 6, 10, 0xFE10}};

static const struct {
    const char *name;
    uint8_t byte;
    uint16_t character;
} single_fixes[] = {
    {"KOI8-U", 0xAE, 0x045E},    {"KOI8-U", 0xBE, 0x040E},       {"macintosh", 0xC6, 0x2206},
    {"macintosh", 0xF0, 0xF8FF}, {"windows-1255", 0xCA, 0x05BA}, {"x-mac-cyrillic", 0xFF, 0x20AC},
};

static uint32_t find_pair(const charset_pair *pairs, size_t count, uint16_t bytes) {
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (pairs[middle].bytes == bytes) {
            return pairs[middle].character;
        }
        if (pairs[middle].bytes < bytes) {
            low = middle + 1;
        } else {
            count = middle;
        }
    }
    return 0;
}

static uint16_t pair_of(const uint8_t *bytes) {
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static bool is_gb_digit(uint8_t byte) {
    return byte >= 0x30 && byte <= 0x39;
}

size_t nc_charset_sequence(charset_kind kind, const uint8_t *bytes, size_t left) {
    bool is_single = bytes[0] < 0x81 || bytes[0] == 0xFF;
    if (kind == CHARSET_SHIFT_JIS) {
        is_single = is_single || (bytes[0] >= 0xA0 && bytes[0] < 0xE0) || bytes[0] > 0xFC;
    }
    if (is_single) {
        return 1;
    }
    if (left < 2) {
        return 0;
    }
    if (kind != CHARSET_GB18030 || !is_gb_digit(bytes[1])) {
        return 2;
    }
    return left < 4 ? 0 : 4;
}

static uint32_t fix_of_four(const uint8_t *bytes) {
    if (bytes[2] < 0x81 || bytes[2] == 0xFF || !is_gb_digit(bytes[3])) {
        return 0;
    }
    uint16_t pointer = (uint16_t)((bytes[2] - 0x81) * 10 + bytes[3] - 0x30);
    for (size_t i = 0; i < sizeof gb18030_ranges / sizeof gb18030_ranges[0]; i++) {
        uint16_t first = gb18030_ranges[i].first;
        if (pair_of(bytes) == gb18030_ranges[i].lead && pointer >= first && pointer - first < gb18030_ranges[i].count) {
            return (uint32_t)(gb18030_ranges[i].character + pointer - first);
        }
    }
    return 0;
}

uint32_t nc_charset_fix(charset_kind kind, const uint8_t *bytes, size_t length) {
    if (kind == CHARSET_EUC_KR) {
        // Found here, because glibc 2.36 refuses the sequence but stops after it, which gives a wrong error offset.
        return length == 2 && pair_of(bytes) == 0xA2E8 ? CHARSET_NO_CHARACTER : 0;
    }
    if (length == 1 && bytes[0] == 0x80) {
        return kind == CHARSET_GB18030 ? 0x20AC : kind == CHARSET_SHIFT_JIS ? 0x80 : CHARSET_NO_CHARACTER;
    }
    if (length == 1 || kind == CHARSET_SHIFT_JIS) {
        return 0;
    }
    if (length == 4) {
        return fix_of_four(bytes);
    }
    if (kind == CHARSET_BIG5) {
        return find_pair(big5_fixes, sizeof big5_fixes / sizeof big5_fixes[0], pair_of(bytes));
    }
    return find_pair(gb18030_fixes, sizeof gb18030_fixes / sizeof gb18030_fixes[0], pair_of(bytes));
}

static uint16_t read_byte(iconv_t converter, uint8_t byte) {
    char input = (char)byte;
    char output[4];
    char *from = &input;
    char *into = output;
    size_t input_left = 1;
    size_t room = sizeof output;
    (void)iconv(converter, NULL, NULL, NULL, NULL);
    bool is_read = iconv(converter, &from, &input_left, &into, &room) != (size_t)-1;
    // A flush is needed: the Vietnamese and Hebrew converters hold back a letter, because an accent may follow.
    (void)iconv(converter, NULL, NULL, &into, &room);
    if (!is_read || room != sizeof output - 2) {
        // Below 0xA0 the standard has a C1 control character where Windows has none. From 0xA0 on it has no character
        // either.
        return byte < 0xA0 ? byte : 0;
    }
    return (uint16_t)((uint8_t)output[0] << 8 | (uint8_t)output[1]);
}

nc_status nc_charset_fill_table(uint16_t table[128], const charset_encoding *encoding) {
    if (encoding->read_as == NULL) {
        // x-user-defined
        for (unsigned i = 0; i < 128; i++) {
            table[i] = (uint16_t)(0xF780 + i);
        }
        return NC_OK;
    }
    iconv_t converter = iconv_open("UTF-16BE", encoding->read_as);
    if (converter == (iconv_t)-1) {
        return errno == ENOMEM ? NC_ERR_NO_MEMORY : NC_ERR_BAD_CHARSET;
    }
    for (unsigned i = 0; i < 128; i++) {
        table[i] = read_byte(converter, (uint8_t)(0x80 + i));
    }
    iconv_close(converter);
    for (size_t i = 0; i < sizeof single_fixes / sizeof single_fixes[0]; i++) {
        if (strcmp(single_fixes[i].name, encoding->name) == 0) {
            table[single_fixes[i].byte - 0x80] = single_fixes[i].character;
        }
    }
    return NC_OK;
}
