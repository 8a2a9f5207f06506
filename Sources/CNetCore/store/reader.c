#include "base/alloc.h"
#include "base/error.h"
#include "store/format.h"
#include "store/internal.h"

#include <errno.h>
#include <string.h>

struct nc_store_reader {
    const nc_store *store;
    nc_loading loading;
    nc_buf front;       // header and texts; the slices of the entry point into it
    uint8_t *piece;     // the current piece, with space for its tag
    size_t length;      // length of the current piece, unsealed; 0 before the first piece
    size_t taken_bytes; // number of its bytes that the caller has received
    uint64_t offset;    // offset of the next piece in the file
    uint64_t number;
    uint64_t left; // bytes of the body behind the current piece
};

static nc_status begin(nc_store_reader *reader, nc_store_candidates *candidates, nc_store *store, nc_slice key,
                       nc_error *err) {
    reader->piece = nc_alloc(NC_ENTRY_PIECE_BYTES + NC_ENTRY_TAG_BYTES);
    if (reader->piece == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a reader");
    }
    nc_status status = nc_store_locate(candidates, store, key, err);
    if (status == NC_OK) {
        status = nc_store_find(&reader->loading, candidates, store, (nc_load_request){.key = key}, &reader->front, err);
    }
    if (status != NC_OK || reader->loading.what != NC_LOADED_HIT) {
        return status;
    }
    status = nc_store_check_body(&reader->loading, store, reader->piece, err);
    if (status == NC_OK && reader->loading.what == NC_LOADED_DAMAGED) {
        nc_store_sweep(store, &candidates->name, &reader->loading);
    }
    return status;
}

nc_status nc_store_reader_new(nc_store_reader **out, nc_store_entry *entry, nc_store *store, nc_slice key,
                              nc_error *err) {
    if (out == NULL || entry == NULL || store == NULL) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the store, the reader or the entry is NULL");
    }
    nc_store_reader *reader = nc_alloc_zeroed(1, sizeof *reader);
    if (reader == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a reader");
    }
    nc_store_candidates candidates;
    reader->store = store;
    reader->loading.fd = -1;
    reader->front = nc_buf_init(SIZE_MAX / 2);
    nc_status status = begin(reader, &candidates, store, key, err);
    if (status != NC_OK || reader->loading.what != NC_LOADED_HIT) {
        nc_loaded what = reader->loading.what;
        nc_store_reader_free(reader);
        if (status == NC_OK) {
            *out = NULL;
            status = nc_store_miss(entry, store, what, err);
        }
        return status;
    }
    nc_store_record_use(store, &candidates.name, &reader->loading);
    nc_entry_describe(entry, &reader->loading.head, reader->front.data + NC_ENTRY_HEADER_BYTES);
    reader->offset = nc_entry_front_bytes(&reader->loading.head);
    reader->left = reader->loading.head.body_bytes;
    *out = reader;
    return nc_error_clear(err);
}

static nc_status read_piece(nc_store_reader *reader, nc_error *err) {
    bool is_sealed = reader->loading.head.is_sealed;
    size_t length = reader->left < NC_ENTRY_PIECE_BYTES ? (size_t)reader->left : NC_ENTRY_PIECE_BYTES;
    size_t stored = length + (is_sealed ? NC_ENTRY_TAG_BYTES : 0);
    ssize_t got = nc_store_read_at(reader->store, reader->loading.fd, reader->piece, stored, reader->offset);
    if (got < 0) {
        return nc_store_fail(reader->store, err, errno, NULL, "read");
    }
    if ((size_t)got != stored ||
        (is_sealed && !nc_store_unseal_piece(reader->loading.cipher, reader->piece, length, reader->number + 1))) {
        return nc_error_set(err, NC_ERR_FILE, 0, -1, "a cache entry changed while it was being read");
    }
    reader->length = length;
    reader->taken_bytes = 0;
    reader->offset += stored;
    reader->number++;
    reader->left -= length;
    return NC_OK;
}

nc_status nc_store_reader_read(size_t *got, nc_store_reader *reader, uint8_t *into, size_t room_bytes, nc_error *err) {
    if (got == NULL || reader == NULL || into == NULL || room_bytes == 0) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the reader or the buffer is NULL");
    }
    size_t at = 0;
    while (at < room_bytes) {
        if (reader->taken_bytes == reader->length) {
            nc_status status = reader->left == 0 ? NC_OK : read_piece(reader, err);
            if (status != NC_OK) {
                return status;
            }
            if (reader->taken_bytes == reader->length) {
                break;
            }
        }
        size_t taken = reader->length - reader->taken_bytes;
        taken = taken < room_bytes - at ? taken : room_bytes - at;
        memcpy(into + at, reader->piece + reader->taken_bytes, taken);
        reader->taken_bytes += taken;
        at += taken;
    }
    *got = at;
    return nc_error_clear(err);
}

void nc_store_reader_free(nc_store_reader *reader) {
    if (reader != NULL) {
        nc_loading_end(&reader->loading, reader->store);
        nc_buf_deinit(&reader->front);
        nc_free(reader->piece);
        nc_free(reader);
    }
}
