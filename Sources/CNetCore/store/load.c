#include "base/error.h"
#include "digest/seal.h"
#include "store/checksum.h"
#include "store/format.h"
#include "store/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/// Size of the first read of a file whose length is unknown. Most fronts fit, and many whole entries.
#define FIRST_READ_BYTES 4096u

/// The state of one load.
typedef struct load {
    nc_loading *out;
    nc_store *store;
    const nc_load_request *wanted;
    nc_buf *room;
    nc_error *err;
    char name[NC_ENTRY_NAME_BYTES];
} load;

static nc_status fail_read(const load *at, int code) {
    return nc_store_fail(at->store, at->err, code, at->name, "read");
}

static nc_status fail_room(const load *at, nc_status status) {
    return nc_error_set(at->err, status, 0, -1, "cannot load '%s/%s': %s", at->store->path, at->name,
                        nc_status_text(status));
}

/// Reads until the buffer has `length` bytes or the file ends.
static nc_status read_up_to(load *at, size_t length) {
    nc_buf *room = at->room;
    if (length > room->max_bytes) {
        return fail_room(at, NC_ERR_TOO_LARGE);
    }
    if (nc_buf_reserve(room, length - room->length) != NC_OK) {
        return fail_room(at, room->status);
    }
    ssize_t got = nc_store_read(at->store, at->out->fd, room->data + room->length, length - room->length);
    if (got < 0) {
        return fail_read(at, errno);
    }
    room->length += (size_t)got;
    return NC_OK;
}

/// Makes the first read, which usually returns the whole file. If the name is not that of a readable file, sets `what`
/// to NC_LOADED_DAMAGED.
static nc_status read_first(load *at) {
    nc_buf *room = at->room;
    uint64_t length = FIRST_READ_BYTES;
    if (at->wanted->whole && at->wanted->expected_bytes + 1 > length) {
        length = at->wanted->expected_bytes + 1; // one more byte, to detect a file that is too long
    }
    if (length > room->max_bytes) {
        length = room->max_bytes;
    }
    if (length < NC_ENTRY_HEADER_BYTES) {
        return fail_room(at, NC_ERR_TOO_LARGE);
    }
    if (nc_buf_reserve(room, (size_t)length) != NC_OK) {
        return fail_room(at, room->status);
    }
    ssize_t got = 0;
    do {
        got = at->store->files.read(at->store->files.ctx, at->out->fd, room->data, (size_t)length);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        at->out->what = NC_LOADED_DAMAGED;
        return nc_store_is_foreign(errno) ? NC_OK : fail_read(at, errno);
    }
    room->length = (size_t)got;
    return got < NC_ENTRY_HEADER_BYTES && got != 0 ? read_up_to(at, NC_ENTRY_HEADER_BYTES) : NC_OK;
}

/// Reads the remaining bytes that are wanted. If the file does not have the length that the header requires, sets
/// `what` to NC_LOADED_DAMAGED.
static nc_status read_announced(load *at) {
    nc_loading *out = at->out;
    struct stat info;
    uint64_t file_bytes = nc_entry_file_bytes(&out->head);
    uint64_t needed = at->wanted->whole ? file_bytes : nc_entry_front_bytes(&out->head);
    if (at->room->length < needed || !at->wanted->whole) {
        int code = nc_store_status(at->store, out->fd, &info);
        if (code != 0) {
            return fail_read(at, code);
        }
        if (!S_ISREG(info.st_mode) || (uint64_t)info.st_size != file_bytes) {
            out->what = NC_LOADED_DAMAGED;
            return NC_OK;
        }
    }
    if (at->room->length < needed) {
        nc_status status = needed > SIZE_MAX ? fail_room(at, NC_ERR_TOO_LARGE) : read_up_to(at, (size_t)needed);
        if (status != NC_OK) {
            return status;
        }
    }
    if (at->room->length < needed || (at->wanted->whole && at->room->length != needed)) {
        out->what = NC_LOADED_DAMAGED;
    }
    return NC_OK;
}

/// Unseals the texts if they are sealed.
static nc_status unseal_texts(load *at) {
    nc_loading *out = at->out;
    uint8_t *header = at->room->data;
    uint8_t *texts = header + NC_ENTRY_HEADER_BYTES;
    size_t length = nc_entry_texts_bytes(&out->head);
    if (out->head.is_sealed != (at->store->seal != NULL) ||
        (out->head.is_sealed && memcmp(out->head.key_id, nc_seal_id(at->store->seal), NC_ENTRY_KEY_ID_BYTES) != 0)) {
        out->what = NC_LOADED_LOCKED;
        return NC_OK;
    }
    if (!out->head.is_sealed) {
        return NC_OK;
    }
    nc_slice salt = nc_slice_make(out->head.salt, NC_ENTRY_SALT_BYTES);
    nc_status status = nc_cipher_new(&out->cipher, at->store->seal, salt, false, at->err);
    if (status != NC_OK) {
        return status;
    }
    nc_piece piece = {0, nc_slice_make(header, NC_ENTRY_CHECKED_BYTES), texts, length, texts + length};
    status = nc_cipher_run(out->cipher, &piece, at->err);
    if (status == NC_ERR_BAD_CODING) {
        out->what = NC_LOADED_DAMAGED;
        return NC_OK;
    }
    return status;
}

bool nc_store_unseal_piece(nc_cipher *cipher, uint8_t *bytes, size_t length, uint64_t number) {
    nc_piece piece = {number, {NULL, 0}, bytes, length, bytes + length};
    return nc_cipher_run(cipher, &piece, NULL) == NC_OK;
}

/// Verifies the body in the buffer. Unseals a sealed body piece by piece, and moves the pieces together over their
/// tags.
static void unseal_body(load *at) {
    nc_loading *out = at->out;
    uint8_t *stored = at->room->data + nc_entry_front_bytes(&out->head);
    uint64_t stored_bytes = nc_entry_stored_body_bytes(&out->head);
    uint8_t check[NC_CHECKSUM_BYTES];
    nc_checksum sum = nc_checksum_init();
    nc_checksum_update(&sum, nc_slice_make(stored, (size_t)stored_bytes));
    nc_checksum_finish(check, &sum);
    if (memcmp(check, out->head.body_check, sizeof check) != 0) {
        out->what = NC_LOADED_DAMAGED;
        return;
    }
    uint8_t *into = stored;
    uint64_t number = 1;
    for (uint64_t left = out->head.is_sealed ? out->head.body_bytes : 0; left != 0; number++) {
        size_t length = left < NC_ENTRY_PIECE_BYTES ? (size_t)left : NC_ENTRY_PIECE_BYTES;
        if (!nc_store_unseal_piece(out->cipher, stored, length, number)) {
            out->what = NC_LOADED_DAMAGED;
            return;
        }
        memmove(into, stored, length);
        into += length;
        stored += length + NC_ENTRY_TAG_BYTES;
        left -= length;
    }
}

static nc_status classify(load *at) {
    nc_loading *out = at->out;
    const uint8_t *header = at->room->data;
    if (at->room->length < NC_ENTRY_HEADER_BYTES || !nc_entry_head_read(&out->head, header)) {
        out->what = NC_LOADED_DAMAGED;
        return NC_OK;
    }
    nc_status status = read_announced(at);
    if (status != NC_OK || out->what == NC_LOADED_DAMAGED) {
        return status;
    }
    header = at->room->data;
    size_t stored_texts = nc_entry_front_bytes(&out->head) - NC_ENTRY_HEADER_BYTES;
    if (!nc_entry_head_is_whole(header, nc_slice_make(header + NC_ENTRY_HEADER_BYTES, stored_texts))) {
        out->what = NC_LOADED_DAMAGED;
        return NC_OK;
    }
    status = unseal_texts(at);
    if (status != NC_OK || out->what != NC_LOADED_HIT) {
        return status;
    }
    nc_slice key = nc_slice_make(header + NC_ENTRY_HEADER_BYTES, out->head.key_bytes);
    if (at->wanted->key.length != 0 && !nc_slice_is_equal(key, at->wanted->key)) {
        out->what = NC_LOADED_OTHER_KEY;
    } else if (nc_entry_is_expired(&out->head, nc_store_now_ms(at->store))) {
        out->what = NC_LOADED_EXPIRED;
    } else if (at->wanted->whole) {
        unseal_body(at);
    }
    return NC_OK;
}

nc_status nc_store_load(nc_loading *out, nc_store *store, const nc_load_request *wanted, nc_buf *room, nc_error *err) {
    load at = {out, store, wanted, room, err, ""};
    nc_entry_name_format(at.name, wanted->name);
    nc_buf_reset(room);
    *out = (nc_loading){.fd = nc_store_open_file(store, at.name, O_RDONLY), .what = NC_LOADED_HIT};
    if (out->fd < 0) {
        bool is_foreign = nc_store_is_foreign(errno);
        out->what = is_foreign ? NC_LOADED_DAMAGED : NC_LOADED_ABSENT;
        return is_foreign || errno == ENOENT ? NC_OK : fail_read(&at, errno);
    }
    nc_status status = read_first(&at);
    if (status == NC_OK && out->what == NC_LOADED_HIT) {
        status = classify(&at);
    }
    if (status != NC_OK) {
        nc_loading_end(out, store);
    }
    return status;
}

void nc_loading_end(nc_loading *loading, const nc_store *store) {
    nc_store_close_descriptor(store, &loading->fd);
    nc_cipher_free(loading->cipher);
    loading->cipher = NULL;
}

nc_status nc_store_check_body(nc_loading *loading, const nc_store *store, uint8_t *room, nc_error *err) {
    uint8_t check[NC_CHECKSUM_BYTES];
    nc_checksum sum = nc_checksum_init();
    uint64_t at = nc_entry_front_bytes(&loading->head);
    uint64_t number = 1;
    for (uint64_t left = loading->head.body_bytes; left != 0; number++) {
        size_t length = left < NC_ENTRY_PIECE_BYTES ? (size_t)left : NC_ENTRY_PIECE_BYTES;
        size_t stored = length + (loading->head.is_sealed ? NC_ENTRY_TAG_BYTES : 0);
        ssize_t got = nc_store_read_at(store, loading->fd, room, stored, at);
        if (got < 0) {
            return nc_store_fail(store, err, errno, NULL, "read");
        }
        nc_checksum_update(&sum, nc_slice_make(room, (size_t)got));
        if ((size_t)got != stored ||
            (loading->head.is_sealed && !nc_store_unseal_piece(loading->cipher, room, length, number))) {
            loading->what = NC_LOADED_DAMAGED;
            return NC_OK;
        }
        at += stored;
        left -= length;
    }
    nc_checksum_finish(check, &sum);
    if (memcmp(check, loading->head.body_check, sizeof check) != 0) {
        loading->what = NC_LOADED_DAMAGED;
    }
    return NC_OK;
}
