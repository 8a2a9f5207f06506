#include "base/alloc.h"
#include "base/ascii.h"
#include "base/error.h"
#include "store/canonical_form.h"
#include "store/key_writer.h"

enum {
    /// An object with up to this number of values, or a head with up to this number of fields, is sorted before it is
    /// written. A larger one is written first and sorted in the canonical form.
    MAX_FEW = 16,
    /// Objects below this depth are always written first and then sorted, because sorting before takes a kilobyte of
    /// stack for each level.
    MAX_FEW_DEPTH = 8,
};

/// Begins a container. end_container() writes its length later.
static uint8_t *begin_container(key_writer *out, canonical_tag tag) {
    key_put_byte(out, (uint8_t)tag);
    out->at += CONTAINER_HEAD_BYTES - 1;
    return out->at;
}

static void end_container(key_writer *out, uint8_t *start) {
    size_t length = (size_t)(out->at - start);
    start[-4] = (uint8_t)(length >> 24);
    start[-3] = (uint8_t)(length >> 16);
    start[-2] = (uint8_t)(length >> 8);
    start[-1] = (uint8_t)length;
}

/// Ends a container and puts its content into canonical order.
static nc_status end_unordered(key_writer *out, uint8_t *start, canonical_tag kind, nc_error *err) {
    end_container(out, start);
    nc_status status = nc_canonical_form_sort(start, (size_t)(out->at - start), kind);
    return status == NC_OK ? status : nc_error_set(err, status, 0, -1, "no memory to sort values");
}

/* --- parameters --- */

static canonical_tag tag_of(nc_params_kind kind) {
    return kind == NC_PARAMS_OBJECT ? TAG_OBJECT : kind == NC_PARAMS_ARRAY ? TAG_ARRAY : TAG_SET;
}

static nc_status put_scalar(key_writer *out, const nc_params_item *item, nc_error *err) {
    nc_params_digits digits;
    nc_slice text;
    switch (item->kind) {
    case NC_PARAMS_NULL:
        key_put_byte(out, TAG_NULL);
        return NC_OK;
    case NC_PARAMS_BOOLEAN:
        key_put_byte(out, item->boolean ? TAG_TRUE : TAG_FALSE);
        return NC_OK;
    case NC_PARAMS_STRING:
    case NC_PARAMS_BYTES:
        key_put_byte(out, item->kind == NC_PARAMS_STRING ? TAG_STRING : TAG_BYTES);
        key_put_text(out, item->content);
        return NC_OK;
    default:
        text = nc_params_text(item, &digits);
        if (text.length == 0) {
            return nc_error_set(err, NC_ERR_BAD_PARAMETER, 0, -1, "the number '%.*s' is not finite, or has no digits",
                                item->name.length > 64 ? 64 : (int)item->name.length,
                                item->name.length == 0 ? "" : (const char *)item->name.data);
        }
        key_put_byte(out, TAG_NUMBER);
        key_put_text(out, text);
        return NC_OK;
    }
}

static nc_status put_value(key_writer *out, const nc_params_item *item, uint32_t depth, nc_error *err);

static int compare_names(nc_slice a, nc_slice b) {
    size_t least = a.length < b.length ? a.length : b.length;
    size_t i = 0;
    while (i < least && a.data[i] == b.data[i]) {
        i++;
    }
    return i < least ? a.data[i] - b.data[i] : (a.length > b.length) - (a.length < b.length);
}

/// Up to MAX_FEW values of an object, and pointers to them in the order of their names.
typedef struct few_values {
    nc_params_item items[MAX_FEW];
    const nc_params_item *sorted[MAX_FEW];
    size_t count;
} few_values;

/// Reads and sorts the values of an object; equal names keep their order. Returns false if there are more than MAX_FEW.
static bool collect_values(few_values *out, const nc_params_item *object) {
    nc_params_cursor cursor = nc_params_children(object);
    size_t count = 0;
    while (count < MAX_FEW && nc_params_next(&cursor, &out->items[count])) {
        const nc_params_item *next = &out->items[count];
        size_t at = count++;
        while (at > 0 && compare_names(out->sorted[at - 1]->name, next->name) > 0) {
            out->sorted[at] = out->sorted[at - 1];
            at--;
        }
        out->sorted[at] = next;
    }
    out->count = count;
    return cursor.rest.length == 0;
}

/// If the object has at most MAX_FEW values, sets `*is_small` and writes it in order. Otherwise writes nothing.
static nc_status put_small_object(bool *is_small, key_writer *out, const nc_params_item *object, uint32_t depth,
                                  nc_error *err) {
    few_values values;
    *is_small = collect_values(&values, object);
    if (!*is_small) {
        return NC_OK;
    }
    uint8_t *start = begin_container(out, TAG_OBJECT);
    for (size_t i = 0; i < values.count; i++) {
        key_put_text(out, values.sorted[i]->name);
        nc_status status = put_value(out, values.sorted[i], depth + 1, err);
        if (status != NC_OK) {
            return status;
        }
    }
    end_container(out, start);
    return NC_OK;
}

static nc_status put_container(key_writer *out, const nc_params_item *item, uint32_t depth, nc_error *err) {
    canonical_tag tag = tag_of(item->kind);
    uint8_t *start = begin_container(out, tag);
    nc_params_cursor cursor = nc_params_children(item);
    nc_params_item child;
    while (nc_params_next(&cursor, &child)) {
        if (tag == TAG_OBJECT) {
            key_put_text(out, child.name);
        }
        nc_status status = put_value(out, &child, depth + 1, err);
        if (status != NC_OK) {
            return status;
        }
    }
    if (tag == TAG_ARRAY) {
        end_container(out, start);
        return NC_OK;
    }
    return end_unordered(out, start, tag, err);
}

/// The recursion is at most NC_PARAMS_MAX_DEPTH deep.
static nc_status put_value(key_writer *out, const nc_params_item *item, uint32_t depth, nc_error *err) {
    if (item->kind < NC_PARAMS_OBJECT) {
        return put_scalar(out, item, err);
    }
    if (item->kind == NC_PARAMS_OBJECT && depth < MAX_FEW_DEPTH) {
        bool is_small;
        nc_status status = put_small_object(&is_small, out, item, depth, err);
        if (is_small) {
            return status;
        }
    }
    return put_container(out, item, depth, err);
}

/* --- fields --- */

static bool comes_before(const nc_header *a, const nc_header *b) {
    size_t least = a->name.length < b->name.length ? a->name.length : b->name.length;
    for (size_t i = 0; i < least; i++) {
        uint8_t left = nc_ascii_lower(a->name.data[i]);
        uint8_t right = nc_ascii_lower(b->name.data[i]);
        if (left != right) {
            return left < right;
        }
    }
    return a->name.length < b->name.length;
}

static void put_field(key_writer *out, const nc_header *field) {
    key_put_length(out, field->name.length);
    key_put_lowered(out, field->name);
    key_put_text(out, field->value);
}

static nc_status put_headers(key_writer *out, const nc_cache_key_parts *parts, nc_error *err) {
    uint8_t *start = begin_container(out, TAG_HEADERS);
    if (parts->header_count > MAX_FEW) {
        for (size_t i = 0; i < parts->header_count; i++) {
            put_field(out, &parts->headers[i]);
        }
        return end_unordered(out, start, TAG_HEADERS, err);
    }
    const nc_header *sorted[MAX_FEW];
    for (size_t i = 0; i < parts->header_count; i++) {
        size_t at = i;
        while (at > 0 && comes_before(&parts->headers[i], sorted[at - 1])) {
            sorted[at] = sorted[at - 1];
            at--;
        }
        sorted[at] = &parts->headers[i];
    }
    for (size_t i = 0; i < parts->header_count; i++) {
        put_field(out, sorted[i]);
    }
    end_container(out, start);
    return NC_OK;
}

/// Returns a word with the top bit set in each byte that is not a letter, a digit or '-'. Nearly all names consist of
/// letters, digits and '-'.
static inline uint64_t find_unusual(uint64_t word) {
    uint64_t low = key_lower(word) & ~KEY_TOPS;
    uint64_t is_letter = (low + KEY_ONES * (0x80 - 'a')) & ~(low + KEY_ONES * (0x7F - 'z'));
    uint64_t is_digit = (low + KEY_ONES * (0x80 - '0')) & ~(low + KEY_ONES * (0x7F - '9'));
    uint64_t is_other = (low ^ KEY_ONES * '-') + KEY_ONES * 0x7F;
    return (word | ~(is_letter | is_digit | ~is_other)) & KEY_TOPS;
}

static bool is_token(nc_slice text) {
    bool is_good = text.length > 0;
    if (is_good && key_scan(text, find_unusual) == 0) {
        return true;
    }
    for (size_t i = 0; i < text.length; i++) {
        is_good &= nc_ascii_is_token(text.data[i]);
    }
    return is_good;
}

/// Returns a value other than 0 if one of the eight bytes is CR, LF or NUL.
static inline uint64_t find_ends(uint64_t word) {
    return key_equals(word, '\r') | key_equals(word, '\n') | key_equals(word, 0);
}

static nc_status check_headers(const nc_cache_key_parts *parts, nc_error *err) {
    if (parts->header_count > NC_CACHE_KEY_MAX_HEADERS) {
        return nc_error_set(err, NC_ERR_TOO_LARGE, 0, -1, "the cache key has more than %d header fields",
                            NC_CACHE_KEY_MAX_HEADERS);
    }
    for (size_t i = 0; i < parts->header_count; i++) {
        if (!is_token(parts->headers[i].name) || key_scan(parts->headers[i].value, find_ends) != 0) {
            return nc_error_set(err, NC_ERR_BAD_HEADER, 0, (int64_t)i,
                                "header field %zu of the cache key contains a forbidden character", i + 1);
        }
    }
    return NC_OK;
}

/* --- the whole --- */

/// Adds the size of a text with its tag and length. A text of 4 GiB or more counts as 4 GiB, which already makes the
/// total too large; so the total does not overflow.
static void add_bytes(uint64_t *total, size_t length) {
    *total += (length < UINT32_MAX ? length : UINT32_MAX) + 1 + MAX_LENGTH_BYTES;
}

/// Computes the maximum size of the canonical form. Returns false if it exceeds 32 bits.
static bool measure(size_t *out, const nc_cache_key_parts *parts) {
    uint64_t total = CANONICAL_FORM_HEAD_BYTES + CONTAINER_HEAD_BYTES + sizeof "GET/";
    add_bytes(&total, parts->method.length);
    add_bytes(&total, parts->url.length);
    add_bytes(&total, parts->body.length);
    add_bytes(&total, parts->scope.length);
    for (size_t i = 0; i < parts->header_count; i++) {
        add_bytes(&total, parts->headers[i].name.length);
        add_bytes(&total, parts->headers[i].value.length);
    }
    if (parts->parameters != NULL) {
        // In the tree a value takes 16 bytes, its name and its text. In the canonical form it takes less than twice
        // that: a length, the name, a tag, a length, and the text or a number's digits.
        add_bytes(&total, parts->parameters->nodes.length);
        add_bytes(&total, parts->parameters->nodes.length);
    }
    *out = (size_t)total;
    return total <= UINT32_MAX;
}

static nc_status check(nc_buf *out, const nc_cache_key_parts *parts, size_t *bytes, nc_error *err) {
    if (out == NULL || parts == NULL || (parts->headers == NULL && parts->header_count > 0) ||
        (parts->url.data == NULL) || (parts->body.data == NULL && parts->body.length > 0) ||
        (parts->method.data == NULL && parts->method.length > 0) ||
        (parts->scope.data == NULL && parts->scope.length > 0)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a buffer, a slice or the parts are NULL");
    }
    if (parts->parameters != NULL && nc_params_status(parts->parameters) != NC_OK) {
        nc_status status = nc_params_status(parts->parameters);
        return nc_error_set(err, status, 0, -1, "the parameters are incomplete: %s", nc_status_text(status));
    }
    if (parts->method.length > 0 && !is_token(parts->method)) {
        return nc_error_set(err, NC_ERR_BAD_METHOD, 0, -1, "the method is not a token");
    }
    nc_status status = check_headers(parts, err);
    if (status != NC_OK) {
        return status;
    }
    if (!measure(bytes, parts)) {
        return nc_error_set(err, NC_ERR_TOO_LARGE, 0, -1, "the request is too large for a cache key");
    }
    return NC_OK;
}

static nc_status put_parts(key_writer *out, const nc_cache_key_parts *parts, const key_url *url, nc_error *err) {
    const uint8_t head[CANONICAL_FORM_HEAD_BYTES] = {'N', 'K', NC_CACHE_KEY_VERSION};
    key_put_bytes(out, key_slice(head, sizeof head));
    key_put_byte(out, TAG_METHOD);
    key_put_text(out, parts->method.length > 0 ? parts->method : key_slice("GET", 3));
    key_put_byte(out, TAG_URL);
    nc_key_url_put(out, url);
    if (parts->header_count > 0) {
        nc_status status = put_headers(out, parts, err);
        if (status != NC_OK) {
            return status;
        }
    }
    if (parts->parameters != NULL) {
        const nc_params *tree = parts->parameters;
        nc_params_item root = {.kind = tree->root, .content = {tree->nodes.data, tree->nodes.length}};
        key_put_byte(out, TAG_PARAMETERS);
        nc_status status = put_value(out, &root, 0, err);
        if (status != NC_OK) {
            return status;
        }
    }
    if (parts->has_body || parts->body.length > 0) {
        key_put_byte(out, TAG_BODY);
        key_put_text(out, parts->body);
    }
    if (parts->scope.length > 0) {
        key_put_byte(out, TAG_SCOPE);
        key_put_text(out, parts->scope);
    }
    return NC_OK;
}

nc_status nc_cache_key_describe(nc_buf *out, const nc_cache_key_parts *parts, nc_error *err) {
    size_t bytes = 0;
    key_url url = {0};
    nc_status status = check(out, parts, &bytes, err);
    if (status == NC_OK) {
        status = nc_key_url_cut(&url, parts->url, err);
    }
    if (status != NC_OK) {
        return status;
    }
    // The canonical host may be longer than the host in the URL.
    bytes += url.host.data == url.written ? url.host.length : 0;
    if (nc_buf_reserve(out, bytes) != NC_OK) {
        return nc_error_set(err, out->status, 0, -1, "cannot store the cache key's canonical form: %s",
                            nc_status_text(out->status));
    }
    key_writer at = {out->data + out->length};
    status = put_parts(&at, parts, &url, err);
    if (status != NC_OK) {
        return status;
    }
    out->length = (size_t)(at.at - out->data);
    return nc_error_clear(err);
}

/// Writes an MD5 as hex digits, four bytes at a time: spreads their half bytes to one byte each, and adds '0', or the
/// difference to a letter.
static void write_hex_digits(char *out, const uint8_t *bytes) {
    for (size_t i = 0; i < NC_MD5_BYTES; i += 4) {
        uint64_t word = (uint64_t)bytes[i] | (uint64_t)bytes[i + 1] << 16 | (uint64_t)bytes[i + 2] << 32 |
                        (uint64_t)bytes[i + 3] << 48;
        uint64_t halves = (word >> 4 & 0x000f000f000f000fu) | (word & 0x000f000f000f000fu) << 8;
        uint64_t is_letter = (halves + KEY_ONES * 6) >> 4 & KEY_ONES;
        uint64_t digits = halves + KEY_ONES * '0' + is_letter * ('a' - '0' - 10);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        digits = __builtin_bswap64(digits);
#endif
        memcpy(out + 2 * i, &digits, sizeof digits);
    }
    out[NC_CACHE_KEY_DIGITS] = '\0';
}

nc_status nc_cache_key_name(nc_cache_key *out, nc_digest *md5, nc_slice description, nc_error *err) {
    uint8_t bytes[NC_DIGEST_MAX_BYTES];
    if (nc_digest_kind_of(md5) != NC_DIGEST_MD5) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the digest of a cache key must be MD5");
    }
    nc_status status = nc_digest_of(bytes, md5, description, err);
    if (status == NC_OK) {
        write_hex_digits(out->text, bytes);
    }
    return status;
}
