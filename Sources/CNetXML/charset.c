#include "charset.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { ROOM_BYTES = 8 << 10 };

/// How a text begins in some charset.
typedef struct beginning {
    const char *bytes;
    size_t count;
    size_t mark_bytes; // 0: no mark, but a '<'
    const char *charset;
} beginning;

// The longer ones first (XML 1.0, appendix F.1).
static const beginning beginnings[] = {
    {"\0\0\xFE\xFF", 4, 4, "UTF-32BE"}, {"\xFF\xFE\0\0", 4, 4, "UTF-32LE"}, {"\0\0\0<", 4, 0, "UTF-32BE"},
    {"<\0\0\0", 4, 0, "UTF-32LE"},      {"\xEF\xBB\xBF", 3, 3, "utf-8"},    {"\xFE\xFF", 2, 2, "UTF-16BE"},
    {"\xFF\xFE", 2, 2, "UTF-16LE"},     {"\0<", 2, 0, "UTF-16BE"},          {"<\0", 2, 0, "UTF-16LE"},
};

static const char declaration[] = "<?xml";

/* --- names --- */

/// A name as IANA registers them; others might mean something to iconv, and these do: the locale's charset, or the
/// machine's own words.
static bool is_name(const char *name) {
    static const char *const refused[] = {"char", "wchar_t", "internal"};
    size_t length = strlen(name);
    for (size_t i = 0; i < length; i++) {
        if (!isalnum((unsigned char)name[i]) && strchr("-_.:+", name[i]) == NULL) {
            return false;
        }
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (strcasecmp(name, refused[i]) == 0) {
            return false;
        }
    }
    return length > 0 && length < CHARSET_BYTES;
}

static bool is_utf8(const char *name) {
    return strcasecmp(name, "utf-8") == 0 || strcasecmp(name, "utf8") == 0;
}

/// What iconv is asked for. Without a mark, which is taken off before, UTF-16 would go by the machine's order; and
/// iconv's own Shift_JIS has a yen sign for the backslash, and an overline for the tilde.
static const char *iconv_name(const char *charset) {
    static const char *const shift_jis[] = {"shift_jis", "shift-jis", "sjis", "ms_kanji", "csshiftjis", "x-sjis"};
    for (size_t i = 0; i < sizeof shift_jis / sizeof *shift_jis; i++) {
        if (strcasecmp(charset, shift_jis[i]) == 0) {
            return "CP932";
        }
    }
    return strcasecmp(charset, "utf-16") == 0 ? "UTF-16LE" : charset;
}

static bool open_iconv(iconv_t *out, const char *charset) {
    iconv_t opened = is_name(charset) ? iconv_open("UTF-8", iconv_name(charset)) : (iconv_t)-1;
    if (opened == (iconv_t)-1) {
        return false;
    }
    *out = opened;
    return true;
}

bool charset_is_known(const char *name) {
    iconv_t opened;
    if (!open_iconv(&opened, name)) {
        return false;
    }
    iconv_close(opened);
    return true;
}

/* --- the beginning of a text --- */

static const beginning *find_beginning(const uint8_t *head, size_t count) {
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        const beginning *one = &beginnings[i];
        if (count >= one->count && memcmp(head, one->bytes, one->count) == 0) {
            return one;
        }
    }
    return NULL;
}

bool charset_needs_more(const uint8_t *head, size_t count, bool is_named) {
    size_t compared = count < sizeof declaration - 1 ? count : sizeof declaration - 1;
    if (count < 4) {
        return true;
    }
    bool is_declaring = !is_named && find_beginning(head, count) == NULL && memcmp(head, declaration, compared) == 0;
    return is_declaring && count < HEAD_BYTES && head[count - 1] != '>';
}

static bool is_space(uint8_t byte) {
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static void skip_spaces(const uint8_t *head, size_t count, size_t *at) {
    while (*at < count && is_space(head[*at])) {
        (*at)++;
    }
}

/// Goes over one name="value" of a declaration; the value lies between `*from` and `*end`. False when there is none.
static bool next_value(const uint8_t *head, size_t count, size_t *at, size_t *from, size_t *end) {
    while (*at < count && isalpha(head[*at])) {
        (*at)++;
    }
    skip_spaces(head, count, at);
    if (*at >= count || head[(*at)++] != '=') {
        return false;
    }
    skip_spaces(head, count, at);
    if (*at >= count || (head[*at] != '"' && head[*at] != '\'')) {
        return false;
    }
    uint8_t quote = head[(*at)++];
    const uint8_t *closing = memchr(head + *at, quote, count - *at);
    if (closing == NULL) {
        return false;
    }
    *from = *at;
    *end = (size_t)(closing - head);
    *at = *end + 1;
    return true;
}

/// The charset that a declaration names; what is wrong with one is libxml2's to say.
static bool find_declared(char out[CHARSET_BYTES], const uint8_t *head, size_t count) {
    static const char encoding[] = "encoding";
    size_t at = sizeof declaration - 1;
    size_t from;
    size_t end;
    if (count <= at || memcmp(head, declaration, at) != 0 || !is_space(head[at])) {
        return false;
    }
    for (;;) {
        skip_spaces(head, count, &at);
        bool is_encoding = count - at > sizeof encoding - 1 && memcmp(head + at, encoding, sizeof encoding - 1) == 0;
        if (!next_value(head, count, &at, &from, &end)) {
            return false;
        }
        if (is_encoding) {
            snprintf(out, CHARSET_BYTES, "%.*s", (int)(end - from), (const char *)head + from);
            return true;
        }
    }
}

size_t charset_find(char out[CHARSET_BYTES], const char *name, const uint8_t *head, size_t count) {
    const beginning *begins = find_beginning(head, count);
    if (begins != NULL && (begins->mark_bytes > 0 || name[0] == '\0' || strcasecmp(name, "utf-16") == 0)) {
        snprintf(out, CHARSET_BYTES, "%s", begins->charset);
        return begins->mark_bytes;
    }
    if (name[0] != '\0') {
        snprintf(out, CHARSET_BYTES, "%s", name);
    } else if (!find_declared(out, head, count)) {
        snprintf(out, CHARSET_BYTES, "utf-8");
    }
    return 0;
}

/* --- the conversion --- */

bool converter_init(charset_converter *converter, const char *charset) {
    converter->part_count = 0;
    converter->is_open = false;
    if (is_utf8(charset)) {
        return true;
    }
    converter->is_open = open_iconv(&converter->iconv, charset);
    return converter->is_open;
}

void converter_deinit(charset_converter *converter) {
    if (converter->is_open) {
        iconv_close(converter->iconv);
        converter->is_open = false;
    }
}

/// Converts as far as whole characters go, and moves on behind them; false as converter_feed() says.
static bool convert(charset_converter *converter, const uint8_t **bytes, size_t *count, converted_fn take, void *ctx) {
    char room[ROOM_BYTES];
    char *from = (char *)(uintptr_t)*bytes; // iconv(3) only reads it.
    for (;;) {
        char *to = room;
        size_t left = sizeof room;
        size_t result = iconv(converter->iconv, &from, count, &to, &left);
        int reason = result == (size_t)-1 ? errno : 0;
        if (to > room && !take(ctx, (const uint8_t *)room, (size_t)(to - room))) {
            return false;
        }
        *bytes = (const uint8_t *)from;
        if (reason != E2BIG) {
            return reason == 0 || reason == EINVAL;
        }
    }
}

/// Gives the beginning of a character what it lacks, a byte at a time.
static bool complete_part(charset_converter *converter, const uint8_t **bytes, size_t *count, converted_fn take,
                          void *ctx) {
    while (converter->part_count > 0 && *count > 0) {
        if (converter->part_count == sizeof converter->part) {
            return false;
        }
        converter->part[converter->part_count++] = *(*bytes)++;
        (*count)--;
        const uint8_t *from = converter->part;
        size_t left = converter->part_count;
        if (!convert(converter, &from, &left, take, ctx)) {
            return false;
        }
        memmove(converter->part, from, left);
        converter->part_count = left;
    }
    return true;
}

bool converter_feed(charset_converter *converter, const uint8_t *bytes, size_t count, converted_fn take, void *ctx) {
    if (count == 0) {
        return true;
    }
    if (!converter->is_open) {
        return take(ctx, bytes, count);
    }
    if (!complete_part(converter, &bytes, &count, take, ctx)) {
        return false;
    }
    if (count == 0) {
        return true;
    }
    if (!convert(converter, &bytes, &count, take, ctx) || count > sizeof converter->part) {
        return false;
    }
    memcpy(converter->part, bytes, count);
    converter->part_count = count;
    return true;
}

bool converter_end(charset_converter *converter, converted_fn take, void *ctx) {
    char room[MAX_CHARACTER_BYTES];
    char *to = room;
    size_t left = sizeof room;
    if (!converter->is_open) {
        return true;
    }
    // Some charsets hold a character back, to which the next one might belong.
    bool is_whole = converter->part_count == 0 && iconv(converter->iconv, NULL, NULL, &to, &left) != (size_t)-1;
    return is_whole && (to == room || take(ctx, (const uint8_t *)room, (size_t)(to - room)));
}
