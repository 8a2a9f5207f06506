#include "client/cache_entry.h"

#include "base/alloc.h"

#include <string.h>

/// The first bytes of metadata: a name and the version of the layout.
static const uint8_t response_mark[4] = {'n', 'c', 'R', '1'};
static const uint8_t index_mark[4] = {'n', 'c', 'I', '1'};

enum { FLAG_NO_CACHE = 1, FLAG_MUST_REVALIDATE = 2, FLAG_IMMUTABLE = 4, FLAG_HEURISTIC = 8 };

/* --- writing --- */

static void put_number(nc_buf *out, uint64_t number, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        nc_buf_append_byte(out, (uint8_t)(number >> (8 * i)));
    }
}

static void put_text(nc_buf *out, nc_slice text) {
    put_number(out, text.length, 4);
    nc_buf_append(out, text);
}

void nc_cached_write(nc_buf *out, const nc_cached_draft *draft) {
    const nc_cache_freshness *fresh = &draft->freshness;
    const int64_t times[] = {fresh->lifetime_ms, fresh->initial_age_ms, fresh->received_at_ms,
                             fresh->stale_while_revalidate_ms, fresh->stale_if_error_ms};
    unsigned flags = (fresh->no_cache ? FLAG_NO_CACHE : 0u) | (fresh->must_revalidate ? FLAG_MUST_REVALIDATE : 0u) |
                     (fresh->immutable ? FLAG_IMMUTABLE : 0u) | (fresh->is_heuristic ? FLAG_HEURISTIC : 0u);
    nc_buf_append(out, nc_slice_make(response_mark, sizeof response_mark));
    put_number(out, draft->status, 2);
    put_number(out, (uint64_t)draft->http_version, 1);
    put_number(out, flags, 1);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        put_number(out, (uint64_t)times[i], 8);
    }
    put_text(out, draft->url);
    put_text(out, draft->owner);
    put_number(out, draft->header_count, 4);
    for (size_t i = 0; i < draft->header_count; i++) {
        put_text(out, draft->headers[i].name);
        put_text(out, draft->headers[i].value);
    }
}

void nc_variant_index_write(nc_buf *out, const nc_variant_index *index) {
    nc_buf_append(out, nc_slice_make(index_mark, sizeof index_mark));
    put_number(out, index->generation, 8);
    put_number(out, index->count, 4);
    for (size_t i = 0; i < index->count; i++) {
        put_text(out, index->choices[i]);
    }
}

/* --- reading --- */

/// Reads values one after the other. After a value that is missing, `is_broken` is set and all values are 0.
typedef struct reader {
    nc_slice rest;
    bool is_broken;
} reader;

static nc_slice take(reader *in, size_t bytes) {
    if (in->is_broken || bytes > in->rest.length) {
        in->is_broken = true;
        return nc_slice_of("");
    }
    nc_slice taken = nc_slice_make(in->rest.data, bytes);
    in->rest = nc_slice_make(in->rest.data + bytes, in->rest.length - bytes);
    return taken;
}

static uint64_t take_number(reader *in, size_t bytes) {
    nc_slice taken = take(in, bytes);
    uint64_t number = 0;
    for (size_t i = 0; i < taken.length; i++) {
        number |= (uint64_t)taken.data[i] << (8 * i);
    }
    return number;
}

static nc_slice take_text(reader *in) {
    return take(in, (size_t)take_number(in, 4));
}

static bool takes_mark(reader *in, const uint8_t mark[4]) {
    return nc_slice_is_equal(take(in, 4), nc_slice_make(mark, 4));
}

/// Reads the part before the fields. Returns false if it is not that of a response.
static bool read_front(nc_cached *out, reader *in) {
    nc_cache_freshness *fresh = &out->stored.freshness;
    if (!takes_mark(in, response_mark)) {
        return false;
    }
    out->stored.status = (uint16_t)take_number(in, 2);
    out->http_version = (nc_http_version)take_number(in, 1);
    unsigned flags = (unsigned)take_number(in, 1);
    fresh->no_cache = (flags & FLAG_NO_CACHE) != 0;
    fresh->must_revalidate = (flags & FLAG_MUST_REVALIDATE) != 0;
    fresh->immutable = (flags & FLAG_IMMUTABLE) != 0;
    fresh->is_heuristic = (flags & FLAG_HEURISTIC) != 0;
    fresh->lifetime_ms = (int64_t)take_number(in, 8);
    fresh->initial_age_ms = (int64_t)take_number(in, 8);
    fresh->received_at_ms = (int64_t)take_number(in, 8);
    fresh->stale_while_revalidate_ms = (int64_t)take_number(in, 8);
    fresh->stale_if_error_ms = (int64_t)take_number(in, 8);
    out->url = take_text(in);
    out->owner = take_text(in);
    uint64_t count = take_number(in, 4);
    out->stored.header_count = (size_t)count;
    return !in->is_broken && count <= NC_CACHED_MAX_FIELDS && out->owner.length <= NC_CACHED_OWNER_BYTES;
}

/// Returns a response with room for exactly its fields; NULL if the metadata is not that of a response.
static nc_cached *read_response(nc_slice metadata) {
    reader in = {.rest = metadata};
    nc_cached front = {.entry = NULL};
    nc_cached *out = NULL;
    if (read_front(&front, &in)) {
        out = nc_alloc(sizeof *out + front.stored.header_count * sizeof out->fields[0]);
    }
    if (out == NULL) {
        return NULL;
    }
    *out = front;
    for (size_t i = 0; i < front.stored.header_count; i++) {
        out->fields[i].name = take_text(&in);
        out->fields[i].value = take_text(&in);
    }
    out->stored.headers = out->fields;
    if (in.is_broken || in.rest.length != 0) {
        nc_free(out);
        return NULL;
    }
    return out;
}

nc_cached *nc_cached_read(nc_tier_entry *entry) {
    nc_cached *cached = read_response(entry->metadata);
    if (cached == NULL) {
        nc_tier_entry_release(entry);
        return NULL;
    }
    cached->entry = entry;
    cached->stored.body_bytes = entry->body.length;
    return cached;
}

void nc_cached_free(nc_cached *cached) {
    if (cached != NULL) {
        nc_tier_entry_release(cached->entry);
        nc_free(cached);
    }
}

/* --- the index --- */

bool nc_variant_index_read(nc_variant_index *out, nc_slice metadata) {
    reader in = {.rest = metadata};
    *out = (nc_variant_index){.count = 0};
    if (!takes_mark(&in, index_mark)) {
        return false;
    }
    out->generation = take_number(&in, 8);
    uint64_t count = take_number(&in, 4);
    if (count > NC_INDEX_MAX_CHOICES) {
        return false;
    }
    out->count = (size_t)count;
    for (size_t i = 0; i < out->count; i++) {
        out->choices[i] = take_text(&in);
    }
    return !in.is_broken && in.rest.length == 0;
}

bool nc_variant_index_add(nc_variant_index *index, nc_slice vary) {
    size_t place = 0;
    while (place < index->count && !nc_slice_is_equal(index->choices[place], vary)) {
        place++;
    }
    if (place == 0 && index->count > 0) {
        return false;
    }
    if (place == index->count) {
        index->count += index->count < NC_INDEX_MAX_CHOICES ? 1 : 0;
        place = index->count - 1; // a full list loses the oldest one
    }
    memmove(&index->choices[1], &index->choices[0], place * sizeof vary);
    index->choices[0] = vary;
    return true;
}
