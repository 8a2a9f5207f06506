#include "client/checked_store.h"

#include "base/error.h"
#include "store/checksum.h"

#include <string.h>

/* --- a store on disk --- */

static nc_status disk_get(void *ctx, nc_slice key, nc_buf *room, nc_cache_store_found *out, nc_error *err) {
    nc_store_entry entry;
    nc_status status = nc_store_get(&entry, ctx, key, room, err);
    if (status != NC_OK || entry.found != NC_STORE_HIT) {
        return status != NC_OK ? status : NC_ERR_NOT_CACHED;
    }
    size_t body_at = (size_t)(entry.body.data - room->data);
    // In a sealed entry, an authentication tag is between metadata and body.
    if (entry.metadata.data + entry.metadata.length != entry.body.data) {
        memmove(room->data + body_at - entry.metadata.length, entry.metadata.data, entry.metadata.length);
    }
    room->length = body_at + entry.body.length;
    *out =
        (nc_cache_store_found){.metadata_at = body_at - entry.metadata.length, .metadata_bytes = entry.metadata.length};
    return NC_OK;
}

static nc_status disk_put(void *ctx, const nc_cache_store_entry *entry, nc_error *err) {
    const nc_store_draft draft = {.key = entry->key, .metadata = entry->metadata, .host = entry->host};
    return nc_store_put(ctx, &draft, entry->body, err);
}

static nc_status disk_remove(void *ctx, nc_slice key, nc_error *err) {
    return nc_store_remove(NULL, ctx, key, err);
}

static nc_status disk_remove_all(void *ctx, nc_slice host, nc_error *err) {
    return host.length > 0 ? nc_store_remove_host(NULL, ctx, host, err) : nc_store_remove_all(NULL, ctx, err);
}

nc_cache_store nc_cache_store_on_disk(nc_store *store) {
    return (nc_cache_store){.ctx = store,
                            .get = disk_get,
                            .put = disk_put,
                            .remove = disk_remove,
                            .remove_all = disk_remove_all,
                            .checks_entries = true};
}

/* --- the checksum, which follows the metadata --- */

static void add_length(nc_checksum *sum, nc_slice text) {
    uint8_t bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)((uint64_t)text.length >> (8 * i));
    }
    nc_checksum_update(sum, nc_slice_make(bytes, sizeof bytes));
}

static void compute(uint8_t out[NC_CHECKSUM_BYTES], nc_slice key, nc_slice metadata, nc_slice body) {
    nc_checksum sum = nc_checksum_init();
    add_length(&sum, key);
    add_length(&sum, metadata);
    nc_checksum_update(&sum, key);
    nc_checksum_update(&sum, metadata);
    nc_checksum_update(&sum, body);
    nc_checksum_finish(out, &sum);
}

/// Removes the checksum from the metadata. Returns false if the entry does not match it.
static bool check(nc_checked_entry *entry, nc_slice key) {
    uint8_t sum[NC_CHECKSUM_BYTES];
    if (entry->metadata.length < sizeof sum) {
        return false;
    }
    entry->metadata.length -= sizeof sum;
    compute(sum, key, entry->metadata, entry->body);
    return memcmp(sum, entry->metadata.data + entry->metadata.length, sizeof sum) == 0;
}

/* --- operations --- */

static nc_error cleared(void) {
    nc_error err;
    (void)nc_error_clear(&err);
    return err;
}

/// Divides the buffer into metadata and body. Returns false if the store has returned impossible lengths.
static bool divide(nc_checked_entry *out, const nc_buf *room, const nc_cache_store_found *found) {
    if (found->metadata_at > room->length || found->metadata_bytes > room->length - found->metadata_at) {
        return false;
    }
    size_t body_at = found->metadata_at + found->metadata_bytes;
    out->metadata = nc_slice_make(room->data + found->metadata_at, found->metadata_bytes);
    out->body = nc_slice_make(room->data + body_at, room->length - body_at);
    return true;
}

nc_status nc_checked_store_get(nc_checked_entry *out, const nc_cache_store *store, nc_slice key, nc_buf *room) {
    nc_cache_store_found found = {.metadata_at = 0};
    nc_error err = cleared();
    nc_status status = store->get(store->ctx, key, room, &found, &err);
    status = status == NC_OK ? nc_buf_status(room) : status;
    if (status != NC_OK) {
        return status;
    }
    if (room->length == 0 || !divide(out, room, &found) || (!store->checks_entries && !check(out, key))) {
        (void)store->remove(store->ctx, key, &err); // the cache does not use the entry in any case
        return NC_ERR_DIGEST_MISMATCH;
    }
    return NC_OK;
}

nc_status nc_checked_store_put(const nc_cache_store *store, const nc_cache_store_entry *entry) {
    uint8_t sum[NC_CHECKSUM_BYTES];
    nc_cache_store_entry summed = *entry;
    nc_buf metadata = nc_buf_init(NC_STORE_MAX_METADATA_BYTES + sizeof sum);
    nc_error err = cleared();
    if (!store->checks_entries) {
        compute(sum, entry->key, entry->metadata, entry->body);
        nc_buf_append(&metadata, entry->metadata);
        nc_buf_append(&metadata, nc_slice_make(sum, sizeof sum));
        summed.metadata = nc_buf_slice(&metadata);
    }
    nc_status status = nc_buf_status(&metadata);
    status = status == NC_OK ? store->put(store->ctx, &summed, &err) : status;
    nc_buf_deinit(&metadata);
    return status;
}

bool nc_checked_store_remove(const nc_cache_store *store, nc_slice key) {
    nc_error err = cleared();
    return store->remove(store->ctx, key, &err) == NC_OK;
}

nc_status nc_checked_store_remove_all(const nc_cache_store *store, nc_slice host, nc_error *err) {
    nc_error own = cleared();
    nc_status status = store->remove_all(store->ctx, host, &own);
    if (status != NC_OK && own.status != status) {
        return nc_error_set(err, status, 0, -1, "the store cannot remove its entries: %s", nc_status_text(status));
    }
    if (err != NULL) {
        *err = own;
    }
    return status;
}
