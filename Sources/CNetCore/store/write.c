#include "base/alloc.h"
#include "base/error.h"
#include "digest/seal.h"
#include "store/checksum.h"
#include "store/format.h"
#include "store/internal.h"

#include <errno.h>
#include <string.h>

enum {
    /// Up to this size, copying the body behind the front takes less time than a second system call.
    ONE_WRITE_BYTES = 32768,
    BUFFER_BYTES = NC_ENTRY_PIECE_BYTES + NC_ENTRY_TAG_BYTES,
};

struct nc_store_writer {
    nc_store *store;
    nc_store_temp_file temp_file;
    nc_entry_head head;
    nc_buf front; // header and texts, with space for a tag
    nc_cipher *cipher;
    nc_checksum sum;
    uint8_t *buffer; // one piece and its tag
    size_t buffered_bytes;
    uint64_t piece_number;
    uint64_t offset; // offset of the next piece
    bool is_over;
};

/* --- fronts --- */

static nc_status check_share(const nc_store *store, const nc_entry_head *head, nc_error *err) {
    uint64_t file_bytes = nc_entry_file_bytes(head);
    if (file_bytes <= store->max_entry_bytes) {
        return NC_OK;
    }
    return nc_error_set(err, NC_ERR_TOO_LARGE, 0, -1,
                        "a cache entry of %llu bytes exceeds the limit of %llu bytes for one entry",
                        (unsigned long long)file_bytes, (unsigned long long)store->max_entry_bytes);
}

/// Starts the front of a file: an empty header and the texts. Reserves space for `more_bytes` behind it.
static nc_status begin_front(nc_buf *out, const nc_entry_head *head, const nc_store_draft *draft, size_t more_bytes,
                             nc_error *err) {
    uint8_t header[NC_ENTRY_HEADER_BYTES] = {0};
    *out = nc_buf_init(SIZE_MAX / 2);
    if (nc_buf_reserve(out, nc_entry_front_bytes(head) + more_bytes) != NC_OK) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for an entry");
    }
    nc_buf_append(out, nc_slice_make(header, sizeof header));
    nc_buf_append(out, draft->key);
    nc_buf_append(out, draft->host);
    nc_buf_append(out, draft->tags);
    nc_buf_append(out, draft->metadata);
    return NC_OK;
}

static void finish_front(nc_buf *front, const nc_entry_head *head) {
    nc_entry_head_write(front->data, head);
    size_t stored_texts = nc_entry_front_bytes(head) - NC_ENTRY_HEADER_BYTES;
    nc_entry_head_write_checksum(front->data, nc_slice_make(front->data + NC_ENTRY_HEADER_BYTES, stored_texts));
}

/* --- bodies in memory --- */

static nc_status write_part(nc_store_temp_file *temp_file, nc_store *store, nc_buf *front, nc_slice body,
                            nc_error *err) {
    bool is_one_write = body.length <= ONE_WRITE_BYTES;
    if (is_one_write) {
        nc_buf_append(front, body); // the space is reserved
    }
    int code = nc_store_write(store, temp_file->fd, nc_buf_slice(front));
    if (code == 0 && !is_one_write) {
        code = nc_store_write(store, temp_file->fd, body);
    }
    if (code == 0) {
        return nc_store_temp_file_close(temp_file, store, err);
    }
    nc_store_temp_file_drop(temp_file, store);
    return nc_store_fail(store, err, code, NULL, "written");
}

static nc_status put_plain(nc_store *store, nc_entry_head *head, const nc_store_draft *draft, nc_slice body,
                           nc_error *err) {
    nc_buf front;
    nc_store_temp_file temp_file;
    nc_checksum sum = nc_checksum_init();
    nc_checksum_update(&sum, body);
    nc_checksum_finish(head->body_check, &sum);
    nc_status status = begin_front(&front, head, draft, body.length <= ONE_WRITE_BYTES ? body.length : 0, err);
    if (status == NC_OK) {
        finish_front(&front, head);
        status = nc_store_temp_file_open(&temp_file, store, err);
    }
    if (status == NC_OK) {
        status = write_part(&temp_file, store, &front, body, err);
    }
    if (status == NC_OK) {
        status = nc_store_temp_file_commit(&temp_file, store, draft->key, nc_entry_file_bytes(head), err);
    }
    nc_buf_deinit(&front);
    return status;
}

/// Puts a sealed entry by means of a writer, which copies each piece before it seals it: the caller's body must not
/// change.
static nc_status put_sealed(nc_store *store, const nc_store_draft *draft, nc_slice body, nc_error *err) {
    nc_store_writer *writer = NULL;
    nc_status status = nc_store_writer_new(&writer, store, draft, err);
    if (status == NC_OK) {
        status = nc_store_writer_append(writer, body, err);
    }
    if (status == NC_OK) {
        status = nc_store_writer_commit(writer, err);
    }
    nc_store_writer_free(writer);
    return status;
}

static nc_status put(nc_store *store, const nc_store_draft *draft, nc_slice body, nc_error *err) {
    nc_entry_head head;
    nc_status status = nc_entry_head_init(&head, draft, nc_store_now_ms(store), err);
    if (status != NC_OK) {
        return status;
    }
    head.is_sealed = store->seal != NULL;
    head.body_bytes = body.length;
    status = check_share(store, &head, err);
    if (status != NC_OK) {
        return status;
    }
    return head.is_sealed ? put_sealed(store, draft, body, err) : put_plain(store, &head, draft, body, err);
}

/// Returns true if the operation failed because the directory was removed, and the directory has been created again.
/// The caller then tries again.
static bool is_recreated(nc_store *store, nc_status status, nc_error *failure) {
    return status == NC_ERR_FILE && failure->native_code == ENOENT &&
           nc_store_recreate_directory(store, failure) == NC_OK;
}

nc_status nc_store_put(nc_store *store, const nc_store_draft *draft, nc_slice body, nc_error *err) {
    nc_error failure;
    if (store == NULL || draft == NULL) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the store or the draft is NULL");
    }
    nc_status status = put(store, draft, body, &failure);
    if (is_recreated(store, status, &failure)) {
        status = put(store, draft, body, &failure);
    }
    if (err != NULL) {
        *err = failure;
    }
    return status;
}

/* --- bodies in pieces --- */

static nc_status begin_sealing(nc_store_writer *writer, nc_error *err) {
    const nc_store *store = writer->store;
    nc_entry_head *head = &writer->head;
    if (store->seal == NULL) {
        return NC_OK;
    }
    head->is_sealed = true;
    memcpy(head->key_id, nc_seal_id(store->seal), sizeof head->key_id);
    if (!store->random.fill(store->random.ctx, head->salt, sizeof head->salt)) {
        return nc_error_set(err, NC_ERR_FILE, 0, -1, "the system's random generator failed: cannot create a salt");
    }
    return nc_cipher_new(&writer->cipher, store->seal, nc_slice_make(head->salt, sizeof head->salt), true, err);
}

static nc_status open_part(nc_store_writer *writer, nc_error *err) {
    nc_error failure;
    nc_status status = nc_store_temp_file_open(&writer->temp_file, writer->store, &failure);
    if (is_recreated(writer->store, status, &failure)) {
        status = nc_store_temp_file_open(&writer->temp_file, writer->store, &failure);
    }
    if (status != NC_OK && err != NULL) {
        *err = failure;
    }
    return status;
}

static nc_status begin_writing(nc_store_writer *writer, const nc_store_draft *draft, nc_error *err) {
    nc_status status = nc_entry_head_init(&writer->head, draft, nc_store_now_ms(writer->store), err);
    if (status == NC_OK) {
        status = begin_sealing(writer, err);
    }
    if (status == NC_OK) {
        status = check_share(writer->store, &writer->head, err);
    }
    if (status == NC_OK) {
        status = begin_front(&writer->front, &writer->head, draft, 0, err);
    }
    writer->buffer = status == NC_OK ? nc_alloc(BUFFER_BYTES) : NULL;
    if (status == NC_OK && writer->buffer == NULL) {
        status = nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for an entry");
    }
    if (status == NC_OK) {
        writer->offset = nc_entry_front_bytes(&writer->head);
        status = open_part(writer, err);
    }
    return status;
}

nc_status nc_store_writer_new(nc_store_writer **out, nc_store *store, const nc_store_draft *draft, nc_error *err) {
    if (out == NULL || store == NULL || draft == NULL) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the writer, the store or the draft is NULL");
    }
    nc_store_writer *writer = nc_alloc_zeroed(1, sizeof *writer);
    if (writer == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for an entry");
    }
    writer->store = store;
    writer->temp_file.fd = -1;
    writer->sum = nc_checksum_init();
    nc_status status = begin_writing(writer, draft, err);
    if (status != NC_OK) {
        nc_store_writer_free(writer);
        return status;
    }
    *out = writer;
    return nc_error_clear(err);
}

static nc_status write_stored(nc_store_writer *writer, nc_slice stored, nc_error *err) {
    nc_checksum_update(&writer->sum, stored);
    int code = nc_store_write_at(writer->store, writer->temp_file.fd, stored, writer->offset);
    writer->offset += stored.length;
    return code == 0 ? NC_OK : nc_store_fail(writer->store, err, code, NULL, "written");
}

/// Writes the piece in the buffer, sealed if the store has a key.
static nc_status flush(nc_store_writer *writer, nc_error *err) {
    size_t length = writer->buffered_bytes;
    if (length == 0) {
        return NC_OK;
    }
    writer->buffered_bytes = 0;
    if (writer->cipher == NULL) {
        return write_stored(writer, nc_slice_make(writer->buffer, length), err);
    }
    nc_piece piece = {++writer->piece_number, {NULL, 0}, writer->buffer, length, writer->buffer + length};
    nc_status status = nc_cipher_run(writer->cipher, &piece, err);
    return status == NC_OK ? write_stored(writer, nc_slice_make(writer->buffer, length + NC_ENTRY_TAG_BYTES), err)
                           : status;
}

static nc_status append(nc_store_writer *writer, nc_slice bytes, nc_error *err) {
    nc_status status = NC_OK;
    while (bytes.length != 0 && status == NC_OK) {
        size_t taken = NC_ENTRY_PIECE_BYTES - writer->buffered_bytes;
        if (writer->cipher == NULL && writer->buffered_bytes == 0 && bytes.length >= NC_ENTRY_PIECE_BYTES) {
            return write_stored(writer, bytes, err);
        }
        taken = bytes.length < taken ? bytes.length : taken;
        memcpy(writer->buffer + writer->buffered_bytes, bytes.data, taken);
        writer->buffered_bytes += taken;
        bytes = nc_slice_make(bytes.data + taken, bytes.length - taken);
        if (writer->buffered_bytes == NC_ENTRY_PIECE_BYTES) {
            status = flush(writer, err);
        }
    }
    return status;
}

nc_status nc_store_writer_append(nc_store_writer *writer, nc_slice bytes, nc_error *err) {
    if (writer == NULL || writer->is_over) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the writer is NULL or has ended");
    }
    nc_entry_head grown = writer->head;
    // The sum does not overflow: both the limit and the size of a body in memory are far below 2^63.
    grown.body_bytes += bytes.length;
    nc_status status = check_share(writer->store, &grown, err);
    if (status == NC_OK) {
        writer->head = grown;
        status = append(writer, bytes, err);
    }
    writer->is_over = status != NC_OK;
    return status == NC_OK ? nc_error_clear(err) : status;
}

/// Completes the file. The front is written last: until then the file has no valid header, so no reader accepts it.
static nc_status finish(nc_store_writer *writer, nc_error *err) {
    nc_status status = flush(writer, err);
    if (status != NC_OK) {
        return status;
    }
    nc_buf *front = &writer->front;
    nc_checksum_finish(writer->head.body_check, &writer->sum);
    if (writer->cipher != NULL) {
        nc_entry_head_write(front->data, &writer->head);
        size_t length = nc_entry_texts_bytes(&writer->head);
        uint8_t *texts = front->data + NC_ENTRY_HEADER_BYTES;
        nc_piece piece = {0, nc_slice_make(front->data, NC_ENTRY_CHECKED_BYTES), texts, length, texts + length};
        status = nc_cipher_run(writer->cipher, &piece, err);
        front->length += NC_ENTRY_TAG_BYTES; // the space is reserved
        if (status != NC_OK) {
            return status;
        }
    }
    finish_front(front, &writer->head);
    int code = nc_store_write_at(writer->store, writer->temp_file.fd, nc_buf_slice(front), 0);
    return code == 0 ? nc_store_temp_file_close(&writer->temp_file, writer->store, err)
                     : nc_store_fail(writer->store, err, code, NULL, "written");
}

nc_status nc_store_writer_commit(nc_store_writer *writer, nc_error *err) {
    if (writer == NULL || writer->is_over) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the writer is NULL or has ended");
    }
    writer->is_over = true;
    // finish() seals the texts in place, so the key is copied first.
    nc_buf key = nc_buf_init(NC_STORE_MAX_KEY_BYTES);
    nc_buf_append(&key, nc_slice_make(writer->front.data + NC_ENTRY_HEADER_BYTES, writer->head.key_bytes));
    nc_status status = nc_buf_status(&key) == NC_OK ? finish(writer, err)
                                                    : nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a key");
    if (status == NC_OK) {
        status = nc_store_temp_file_commit(&writer->temp_file, writer->store, nc_buf_slice(&key),
                                           nc_entry_file_bytes(&writer->head), err);
    }
    nc_buf_deinit(&key);
    return status;
}

void nc_store_writer_free(nc_store_writer *writer) {
    if (writer != NULL) {
        nc_store_temp_file_drop(&writer->temp_file, writer->store);
        nc_cipher_free(writer->cipher);
        nc_buf_deinit(&writer->front);
        nc_free(writer->buffer);
        nc_free(writer);
    }
}
