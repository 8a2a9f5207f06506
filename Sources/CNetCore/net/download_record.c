#include "net/download_record.h"

#include <netcore/body_source.h>
#include <stdio.h>
#include <string.h>

static const char first_line[] = "netkit partial download 1\n";

/* --- writing --- */

/// Appends a value on one line; line ends are escaped.
static void append_line(nc_buf *out, const char *name, nc_slice value) {
    static const char digits[] = "0123456789abcdef";
    nc_buf_append(out, nc_slice_of(name));
    nc_buf_append_byte(out, ' ');
    for (size_t i = 0; i < value.length; i++) {
        uint8_t c = value.data[i];
        if (c < 0x20 || c == 0x7F || c == '%') {
            const uint8_t escape[] = {'%', (uint8_t)digits[c >> 4], (uint8_t)digits[c & 15]};
            nc_buf_append(out, nc_slice_make(escape, sizeof escape));
        } else {
            nc_buf_append_byte(out, c);
        }
    }
    nc_buf_append_byte(out, '\n');
}

static void append_hex_line(nc_buf *out, const char *name, const uint8_t *bytes, size_t length) {
    nc_buf_append(out, nc_slice_of(name));
    nc_buf_append_byte(out, ' ');
    nc_hex_encode(out, nc_slice_make(bytes, length));
    nc_buf_append_byte(out, '\n');
}

static void append_number(nc_buf *out, uint64_t number) {
    char text[24];
    int length = number == NC_LENGTH_UNKNOWN ? snprintf(text, sizeof text, "-")
                                             : snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    nc_buf_append(out, nc_slice_make(text, (size_t)length));
}

static void append_piece(nc_buf *out, const nc_record_piece *piece) {
    nc_buf_append(out, nc_slice_of("piece "));
    append_number(out, piece->start);
    nc_buf_append_byte(out, ' ');
    append_number(out, piece->end);
    nc_buf_append_byte(out, ' ');
    append_number(out, piece->proven);
    append_hex_line(out, "", piece->sum, sizeof piece->sum);
}

static void sum_of(uint8_t out[NC_CHECKSUM_BYTES], nc_slice text) {
    nc_checksum sum = nc_checksum_init();
    nc_checksum_update(&sum, text);
    nc_checksum_finish(out, &sum);
}

void nc_record_write(nc_buf *out, const nc_record *record) {
    uint8_t sum[NC_CHECKSUM_BYTES];
    size_t at = out->length;
    nc_buf_append(out, nc_slice_of(first_line));
    append_line(out, "url", record->url);
    append_line(out, "path", record->path);
    append_line(out, "etag", record->validators.etag);
    append_line(out, "modified", record->validators.modified);
    append_line(out, "strong", nc_slice_of(record->validators.is_strong ? "yes" : "no"));
    if (record->digests.has_sha256) {
        append_hex_line(out, "sha-256", record->digests.sha256, NC_SHA256_BYTES);
    }
    if (record->digests.has_md5) {
        append_hex_line(out, "md5", record->digests.md5, NC_MD5_BYTES);
    }
    nc_buf_append(out, nc_slice_of("total "));
    append_number(out, record->total);
    nc_buf_append(out, nc_slice_of("\ntime "));
    append_number(out, record->time_ms < 0 ? 0 : (uint64_t)record->time_ms);
    nc_buf_append_byte(out, '\n');
    for (size_t i = 0; i < record->piece_count; i++) {
        append_piece(out, &record->pieces[i]);
    }
    if (nc_buf_status(out) == NC_OK) {
        sum_of(sum, nc_slice_make(out->data + at, out->length - at));
        append_hex_line(out, "check", sum, sizeof sum);
    }
}

/* --- reading --- */

static int hex_digit(uint8_t c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(uint8_t *out, size_t length, nc_slice text) {
    if (text.length != 2 * length) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        int high = hex_digit(text.data[2 * i]);
        int low = hex_digit(text.data[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        out[i] = (uint8_t)(high * 16 + low);
    }
    return true;
}

/// Takes the text before the next `mark`, and the mark. Returns false if there is none.
static bool take(nc_slice *out, nc_slice *text, char mark) {
    const uint8_t *at = text->length > 0 ? memchr(text->data, mark, text->length) : NULL;
    if (at == NULL) {
        return false;
    }
    *out = nc_slice_make(text->data, (size_t)(at - text->data));
    *text = nc_slice_make(at + 1, text->length - out->length - 1);
    return true;
}

static bool read_number(uint64_t *out, nc_slice text) {
    if (nc_slice_is_equal(text, nc_slice_of("-"))) {
        *out = NC_LENGTH_UNKNOWN;
        return true;
    }
    return nc_decimal_read(out, text);
}

/// `texts` has room for everything, so it never moves.
static bool read_text(nc_slice *out, nc_buf *texts, nc_slice value) {
    size_t at = texts->length;
    for (size_t i = 0; i < value.length; i++) {
        uint8_t c = value.data[i];
        if (c == '%' && !(i + 2 < value.length && read_hex(&c, 1, nc_slice_make(value.data + i + 1, 2)))) {
            return false;
        }
        i += value.data[i] == '%' ? 2 : 0;
        nc_buf_append_byte(texts, c);
    }
    *out = nc_slice_make(texts->data + at, texts->length - at);
    return true;
}

static bool read_piece(nc_record *record, nc_slice value) {
    nc_slice start;
    nc_slice end;
    nc_slice proven;
    if (record->piece_count == NC_RECORD_MAX_PIECES || !take(&start, &value, ' ') || !take(&end, &value, ' ') ||
        !take(&proven, &value, ' ')) {
        return false;
    }
    nc_record_piece *piece = &record->pieces[record->piece_count++];
    return nc_decimal_read(&piece->start, start) && read_number(&piece->end, end) &&
           nc_decimal_read(&piece->proven, proven) && read_hex(piece->sum, sizeof piece->sum, value);
}

static bool read_line(nc_record *record, nc_buf *texts, nc_slice name, nc_slice value) {
    uint64_t number = 0;
    if (nc_slice_is_equal(name, nc_slice_of("url"))) {
        return read_text(&record->url, texts, value);
    }
    if (nc_slice_is_equal(name, nc_slice_of("path"))) {
        return read_text(&record->path, texts, value);
    }
    if (nc_slice_is_equal(name, nc_slice_of("etag"))) {
        return read_text(&record->validators.etag, texts, value);
    }
    if (nc_slice_is_equal(name, nc_slice_of("modified"))) {
        return read_text(&record->validators.modified, texts, value);
    }
    if (nc_slice_is_equal(name, nc_slice_of("strong"))) {
        record->validators.is_strong = nc_slice_is_equal(value, nc_slice_of("yes"));
        return true;
    }
    if (nc_slice_is_equal(name, nc_slice_of("sha-256"))) {
        record->digests.has_sha256 = read_hex(record->digests.sha256, NC_SHA256_BYTES, value);
        return record->digests.has_sha256;
    }
    if (nc_slice_is_equal(name, nc_slice_of("md5"))) {
        record->digests.has_md5 = read_hex(record->digests.md5, NC_MD5_BYTES, value);
        return record->digests.has_md5;
    }
    if (nc_slice_is_equal(name, nc_slice_of("total"))) {
        return read_number(&record->total, value);
    }
    if (nc_slice_is_equal(name, nc_slice_of("time"))) {
        bool is_read = nc_decimal_read(&number, value);
        record->time_ms = (int64_t)number;
        return is_read;
    }
    return nc_slice_is_equal(name, nc_slice_of("piece")) && read_piece(record, value);
}

static bool makes_sense(const nc_record *record) {
    uint64_t at = 0;
    for (size_t i = 0; i < record->piece_count; i++) {
        const nc_record_piece *piece = &record->pieces[i];
        bool is_last = i + 1 == record->piece_count;
        bool is_open = piece->end == NC_LENGTH_UNKNOWN;
        if (piece->start != at || (is_open && !(is_last && record->total == NC_LENGTH_UNKNOWN)) ||
            (!is_open && (piece->end < piece->start || piece->proven > piece->end - piece->start)) ||
            (is_open && piece->proven > INT64_MAX - piece->start)) {
            return false;
        }
        at = piece->end;
    }
    return record->url.length > 0 && record->piece_count > 0 &&
           (record->total == NC_LENGTH_UNKNOWN || at == record->total);
}

/// Cuts off the checksum. Returns false if it is wrong.
static bool check(nc_slice *text) {
    enum { CHECK_BYTES = 6 + 2 * NC_CHECKSUM_BYTES + 1 };
    uint8_t said[NC_CHECKSUM_BYTES];
    uint8_t sum[NC_CHECKSUM_BYTES];
    if (text->length < CHECK_BYTES || text->length > NC_RECORD_MAX_BYTES) {
        return false;
    }
    nc_slice line = nc_slice_make(text->data + text->length - CHECK_BYTES, CHECK_BYTES);
    text->length -= CHECK_BYTES;
    if (memcmp(line.data, "check ", 6) != 0 || line.data[CHECK_BYTES - 1] != '\n' ||
        !read_hex(said, sizeof said, nc_slice_make(line.data + 6, 2 * sizeof said))) {
        return false;
    }
    sum_of(sum, *text);
    return memcmp(said, sum, sizeof sum) == 0;
}

bool nc_record_read(nc_record *out, nc_buf *texts, nc_slice text) {
    size_t first = sizeof first_line - 1;
    nc_record record = {.total = NC_LENGTH_UNKNOWN};
    if (!check(&text) || text.length < first || memcmp(text.data, first_line, first) != 0 ||
        nc_buf_reserve(texts, text.length) != NC_OK) {
        return false;
    }
    text = nc_slice_make(text.data + first, text.length - first);
    nc_slice line;
    nc_slice name;
    while (text.length > 0) {
        if (!take(&line, &text, '\n') || !take(&name, &line, ' ') || !read_line(&record, texts, name, line)) {
            return false;
        }
    }
    if (!makes_sense(&record)) {
        return false;
    }
    *out = record;
    return true;
}

uint64_t nc_record_proven(const nc_record *record) {
    uint64_t proven = 0;
    for (size_t i = 0; i < record->piece_count; i++) {
        proven += record->pieces[i].proven;
    }
    return proven;
}
