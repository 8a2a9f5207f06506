#include "base/alloc.h"
#include "store/canonical_form.h"

#include <string.h>

enum {
    /// A container with up to this number of pieces and bytes is sorted without an allocation.
    STACK_PIECES = 32,
    STACK_BYTES = 512,
};

/// One element of a container.
typedef struct piece {
    size_t start;
    size_t length;
    /// The sort key: the name, or in a set the whole element.
    nc_slice key;
} piece;

size_t nc_canonical_form_length(uint32_t *out, nc_slice rest) {
    uint64_t length = 0;
    for (size_t i = 0; i < rest.length && i < MAX_LENGTH_BYTES; i++) {
        length |= (uint64_t)(rest.data[i] & 0x7F) << (7 * i);
        if ((rest.data[i] & 0x80) == 0) {
            bool is_shortest = i == 0 || rest.data[i] != 0;
            if (length > UINT32_MAX || !is_shortest) {
                return 0;
            }
            *out = (uint32_t)length;
            return i + 1;
        }
    }
    return 0;
}

/// Returns the size of a length and its text, or 0 if they are incomplete.
static size_t text_bytes(nc_slice rest) {
    uint32_t length;
    size_t taken = nc_canonical_form_length(&length, rest);
    return taken != 0 && length <= rest.length - taken ? taken + length : 0;
}

/// Returns the size of the value at the start of `rest`; 0 if there is no complete value. The content of a container is
/// not checked.
static size_t value_bytes(nc_slice rest) {
    size_t length;
    if (rest.length == 0) {
        return 0;
    }
    switch (rest.data[0]) {
    case TAG_NULL:
    case TAG_TRUE:
    case TAG_FALSE:
        return 1;
    case TAG_NUMBER:
    case TAG_STRING:
    case TAG_BYTES:
        length = text_bytes(nc_slice_make(rest.data + 1, rest.length - 1));
        return length == 0 ? 0 : 1 + length;
    case TAG_OBJECT:
    case TAG_ARRAY:
    case TAG_SET:
        if (rest.length < CONTAINER_HEAD_BYTES) {
            return 0;
        }
        length = (size_t)rest.data[1] << 24 | (size_t)rest.data[2] << 16 | (size_t)rest.data[3] << 8 | rest.data[4];
        return length <= rest.length - CONTAINER_HEAD_BYTES ? CONTAINER_HEAD_BYTES + length : 0;
    default:
        return 0;
    }
}

/// Returns the piece that begins at `start`. The bytes were written by cache_key.c, so they are complete.
static piece next_piece(const uint8_t *bytes, size_t start, size_t length, canonical_tag kind) {
    nc_slice rest = nc_slice_make(bytes + start, length - start);
    piece out = {.start = start};
    size_t name = 0;
    if (kind != TAG_SET) {
        uint32_t name_length = 0;
        size_t prefix = nc_canonical_form_length(&name_length, rest);
        out.key = nc_slice_make(rest.data + prefix, name_length);
        name = prefix + name_length;
    }
    nc_slice value = nc_slice_make(rest.data + name, rest.length - name);
    out.length = name + (kind == TAG_HEADERS ? text_bytes(value) : value_bytes(value));
    if (kind == TAG_SET) {
        out.key = nc_slice_make(rest.data, out.length);
    }
    return out;
}

static int compare(nc_slice a, nc_slice b) {
    size_t least = a.length < b.length ? a.length : b.length;
    int order = least == 0 ? 0 : memcmp(a.data, b.data, least);
    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

/// Counts the pieces, and sets `*is_sorted` to whether they are in order.
static size_t count_pieces(const uint8_t *bytes, size_t length, canonical_tag kind, bool *is_sorted) {
    size_t count = 0;
    nc_slice last = {NULL, 0};
    *is_sorted = true;
    for (size_t at = 0; at < length; count++) {
        piece next = next_piece(bytes, at, length, kind);
        *is_sorted = *is_sorted && (count == 0 || compare(last, next.key) <= 0);
        last = next.key;
        at += next.length;
    }
    return count;
}

static void insertion_sort(piece *pieces, size_t count) {
    for (size_t i = 1; i < count; i++) {
        piece moving = pieces[i];
        size_t at = i;
        while (at > 0 && compare(pieces[at - 1].key, moving.key) > 0) {
            pieces[at] = pieces[at - 1];
            at--;
        }
        pieces[at] = moving;
    }
}

/// Sorts the first half of `pieces` (`count` pieces); the second half is working space. Returns the half that contains
/// the result. The sort is stable and takes O(n log n) time for every input.
static piece *merge_sort(piece *pieces, size_t count) {
    piece *from = pieces;
    piece *to = pieces + count;
    for (size_t run = 1; run < count; run *= 2) {
        for (size_t start = 0; start < count; start += 2 * run) {
            size_t middle = start + run < count ? start + run : count;
            size_t end = middle + run < count ? middle + run : count;
            size_t left = start;
            size_t right = middle;
            for (size_t i = start; i < end; i++) {
                bool takes_left = left < middle && (right >= end || compare(from[left].key, from[right].key) <= 0);
                to[i] = takes_left ? from[left++] : from[right++];
            }
        }
        piece *other = from;
        from = to;
        to = other;
    }
    return from;
}

static void put_in_order(uint8_t *bytes, size_t length, const piece *order, size_t count, uint8_t *copy) {
    memcpy(copy, bytes, length);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        memcpy(bytes + at, copy + order[i].start, order[i].length);
        at += order[i].length;
    }
}

static void list_pieces(piece *out, const uint8_t *bytes, size_t length, canonical_tag kind) {
    for (size_t at = 0; at < length; out++) {
        *out = next_piece(bytes, at, length, kind);
        at += out->length;
    }
}

static void sort_on_stack(uint8_t *bytes, size_t length, size_t count, canonical_tag kind) {
    piece pieces[STACK_PIECES];
    uint8_t copy[STACK_BYTES];
    list_pieces(pieces, bytes, length, kind);
    insertion_sort(pieces, count);
    put_in_order(bytes, length, pieces, count, copy);
}

static nc_status sort_on_heap(uint8_t *bytes, size_t length, size_t count, canonical_tag kind) {
    size_t total;
    if (!nc_size_mul(&total, count, 2 * sizeof(piece)) || !nc_size_add(&total, total, length)) {
        return NC_ERR_TOO_LARGE;
    }
    piece *pieces = nc_alloc(total);
    if (pieces == NULL) {
        return NC_ERR_NO_MEMORY;
    }
    list_pieces(pieces, bytes, length, kind);
    put_in_order(bytes, length, merge_sort(pieces, count), count, (uint8_t *)(pieces + 2 * count));
    nc_free(pieces);
    return NC_OK;
}

nc_status nc_canonical_form_sort(uint8_t *bytes, size_t length, canonical_tag kind) {
    bool is_sorted;
    size_t count = count_pieces(bytes, length, kind, &is_sorted);
    if (is_sorted) {
        return NC_OK;
    }
    if (count <= STACK_PIECES && length <= STACK_BYTES) {
        sort_on_stack(bytes, length, count, kind);
        return NC_OK;
    }
    return sort_on_heap(bytes, length, count, kind);
}
