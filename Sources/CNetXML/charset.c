#if defined(NETKIT_XML) || !defined(SWIFT_PACKAGE)
#include "charset.h"

#include <ctype.h>
#include <netcore/bytes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    /// Bytes converted at a time. Their text is at most four times as long, plus what the decoder held back.
    STEP_BYTES = 2 << 10,
    MAX_TEXT_BYTES = 8 * STEP_BYTES,
};

/// The first bytes of a text in some charset.
typedef struct beginning {
    const char *bytes;
    size_t count;
    size_t mark_bytes; // 0: no mark, but a '<'
    const char *charset;
} beginning;

// The longer ones come first (XML 1.0, appendix F.1).
static const beginning beginnings[] = {
    {"\0\0\xFE\xFF", 4, 4, "UTF-32BE"}, {"\xFF\xFE\0\0", 4, 4, "UTF-32LE"}, {"\0\0\0<", 4, 0, "UTF-32BE"},
    {"<\0\0\0", 4, 0, "UTF-32LE"},      {"\xEF\xBB\xBF", 3, 3, "utf-8"},    {"\xFE\xFF", 2, 2, "UTF-16BE"},
    {"\xFF\xFE", 2, 2, "UTF-16LE"},     {"\0<", 2, 0, "UTF-16BE"},          {"<\0", 2, 0, "UTF-16LE"},
};

static const char declaration[] = "<?xml";

/* --- names --- */

/// libxml2 reads UTF-8 itself, and locates errors in it.
static bool is_utf8(const char *label) {
    const char *name = nc_charset_name(nc_slice_of(label));
    return name != NULL && strcmp(name, "UTF-8") == 0;
}

bool charset_is_known(const char *name) {
    nc_charset_decoder *decoder = NULL;
    bool is_known = nc_charset_decoder_new(&decoder, nc_slice_of(name), NULL) == NC_OK;
    nc_charset_decoder_free(decoder);
    return is_known;
}

/* --- detection --- */

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

/// Skips one name="value" of a declaration. The value lies between `*from` and `*end`. Returns false if there is none.
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

/// Finds the charset that a declaration names. libxml2 reports errors in the declaration.
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
    const char *known = nc_charset_name(nc_slice_of(name));
    bool is_utf16 = known != NULL && strcmp(known, "UTF-16LE") == 0;
    if (begins != NULL &&
        (begins->mark_bytes > 0 || name[0] == '\0' || (is_utf16 && strcasecmp(name, "utf-16le") != 0))) {
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

/* --- conversion --- */

bool converter_init(charset_converter *converter, const char *charset) {
    converter->decoder = NULL;
    return is_utf8(charset) || nc_charset_decoder_new(&converter->decoder, nc_slice_of(charset), NULL) == NC_OK;
}

void converter_deinit(charset_converter *converter) {
    nc_charset_decoder_free(converter->decoder);
    converter->decoder = NULL;
}

static bool take_text(nc_buf *text, converted_fn take, void *ctx) {
    return text->length == 0 || take(ctx, text->data, text->length);
}

bool converter_feed(charset_converter *converter, const uint8_t *bytes, size_t count, converted_fn take, void *ctx) {
    if (converter->decoder == NULL) {
        return count == 0 || take(ctx, bytes, count);
    }
    bool is_good = true;
    nc_buf text = nc_buf_init(MAX_TEXT_BYTES);
    while (is_good && count > 0) {
        size_t step = count < STEP_BYTES ? count : STEP_BYTES;
        nc_buf_reset(&text);
        nc_status status = nc_charset_decoder_feed(converter->decoder, &text, nc_slice_make(bytes, step), NULL);
        // The text before a bad byte is delivered, so that an earlier markup error is reported first.
        is_good = take_text(&text, take, ctx) && status == NC_OK;
        bytes += step;
        count -= step;
    }
    nc_buf_deinit(&text);
    return is_good;
}

bool converter_end(charset_converter *converter, converted_fn take, void *ctx) {
    if (converter->decoder == NULL) {
        return true;
    }
    nc_buf text = nc_buf_init(MAX_TEXT_BYTES);
    bool is_good = nc_charset_decoder_finish(converter->decoder, &text, NULL) == NC_OK && take_text(&text, take, ctx);
    nc_buf_deinit(&text);
    return is_good;
}
#endif
