#include "own_store.h"

#include "harness.h"

#include <stdlib.h>
#include <string.h>

/* --- the list; the caller holds the mutex --- */

static nc_slice key_of(const own_entry *entry) {
    return nc_slice_make(entry->bytes, entry->key);
}

static nc_slice host_of(const own_entry *entry) {
    return nc_slice_make(entry->bytes + entry->key, entry->host);
}

static nc_slice content_of(const own_entry *entry) {
    return nc_slice_make(entry->bytes + entry->key + entry->host, entry->metadata + entry->body);
}

static own_entry *find(own_store *own, nc_slice key) {
    for (size_t i = 0; i < OWN_STORE_ENTRIES; i++) {
        if (own->entries[i].bytes != NULL && nc_slice_is_equal(key_of(&own->entries[i]), key)) {
            return &own->entries[i];
        }
    }
    return NULL;
}

static void drop(own_entry *entry) {
    free(entry->bytes);
    *entry = (own_entry){.bytes = NULL};
}

static own_entry *place_for(own_store *own, nc_slice key) {
    own_entry *entry = find(own, key);
    for (size_t i = 0; i < OWN_STORE_ENTRIES && entry == NULL; i++) {
        entry = own->entries[i].bytes == NULL ? &own->entries[i] : NULL;
    }
    return entry != NULL ? entry : &own->entries[0];
}

static own_entry *other_than(own_store *own, const own_entry *entry) {
    for (size_t i = 0; i < OWN_STORE_ENTRIES; i++) {
        if (own->entries[i].bytes != NULL && &own->entries[i] != entry && own->entries[i].key == entry->key) {
            return &own->entries[i];
        }
    }
    return NULL;
}

/* --- faults --- */

/// The size of the checksum, which ends the metadata.
enum { SUM_BYTES = 16 };

static void append_changed(nc_buf *room, nc_slice content, size_t at) {
    nc_buf_append(room, content);
    if (at < room->length) {
        room->data[at] ^= 0x20;
    }
}

static void answer_wrong(own_store *own, nc_buf *room, nc_cache_store_found *out, const own_entry *entry) {
    nc_slice content = content_of(entry);
    out->metadata_bytes = entry->metadata;
    switch (own->fault) {
    case OWN_STORE_CHANGES:
        append_changed(room, content, own->at);
        break;
    case OWN_STORE_CUTS:
        nc_buf_append(room, nc_slice_make(content.data, own->at));
        out->metadata_bytes = own->at < entry->metadata ? own->at : entry->metadata;
        break;
    case OWN_STORE_ADDS:
        nc_buf_append(room, content);
        nc_buf_append_byte(room, 'x');
        break;
    case OWN_STORE_MOVES:
        nc_buf_append(room, content);
        out->metadata_bytes++;
        break;
    case OWN_STORE_REORDERS:
        nc_buf_append(room, nc_slice_make(content.data, own->at));
        nc_buf_append(room, nc_slice_make(content.data + entry->metadata - SUM_BYTES, SUM_BYTES));
        nc_buf_append(room, nc_slice_make(content.data + own->at, entry->metadata - SUM_BYTES - own->at));
        nc_buf_append(room, nc_slice_make(content.data + entry->metadata, entry->body));
        out->metadata_bytes = own->at + SUM_BYTES;
        break;
    case OWN_STORE_COUNTS_WRONG:
        nc_buf_append(room, content);
        out->metadata_at = own->at;
        break;
    case OWN_STORE_NEVER_ENDS:
        while (nc_buf_status(room) == NC_OK) {
            nc_buf_append(room, content);
        }
        break;
    default:
        break;
    }
}

/* --- the functions --- */

static nc_status get(void *ctx, nc_slice key, nc_buf *room, nc_cache_store_found *out, nc_error *err) {
    own_store *own = ctx;
    pthread_mutex_lock(&own->mutex);
    own->gets++;
    const own_entry *entry = find(own, key);
    const own_entry *used = own->fault == OWN_STORE_SWAPS && entry != NULL ? other_than(own, entry) : entry;
    nc_status status = own->fault == OWN_STORE_FAILS ? NC_ERR_FILE : used != NULL ? NC_OK : NC_ERR_NOT_CACHED;
    bool is_right = own->fault == OWN_STORE_WORKS || own->fault == OWN_STORE_SWAPS || own->fault == OWN_STORE_KEEPS;
    err->status = status;
    if (status == NC_OK && is_right) {
        nc_buf_append(room, content_of(used));
        out->metadata_bytes = used->metadata;
    } else if (status == NC_OK) {
        answer_wrong(own, room, out, used);
    }
    while (own->is_slow) { // after the entry was read, which may be removed in the meantime
        own->waiting++;
        pthread_cond_broadcast(&own->changed);
        pthread_cond_wait(&own->changed, &own->mutex);
    }
    pthread_mutex_unlock(&own->mutex);
    return status;
}

static nc_status put(void *ctx, const nc_cache_store_entry *entry, nc_error *err) {
    own_store *own = ctx;
    const nc_slice parts[] = {entry->key, entry->host, entry->metadata, entry->body};
    (void)err;
    pthread_mutex_lock(&own->mutex);
    own->puts++;
    bool is_put = own->fault != OWN_STORE_FAILS;
    if (is_put) {
        own_entry *place = place_for(own, entry->key);
        size_t length = 0;
        drop(place);
        *place = (own_entry){
            malloc(entry->key.length + entry->host.length + entry->metadata.length + entry->body.length + 1),
            entry->key.length, entry->host.length, entry->metadata.length, entry->body.length};
        for (size_t i = 0; i < 4; i++) {
            if (parts[i].length > 0) {
                memcpy(place->bytes + length, parts[i].data, parts[i].length);
            }
            length += parts[i].length;
        }
    }
    pthread_mutex_unlock(&own->mutex);
    return is_put ? NC_OK : NC_ERR_FILE;
}

static nc_status remove_one(void *ctx, nc_slice key, nc_error *err) {
    own_store *own = ctx;
    (void)err;
    pthread_mutex_lock(&own->mutex);
    own->removals++;
    bool is_removed = own->fault != OWN_STORE_FAILS && own->fault != OWN_STORE_KEEPS;
    own_entry *entry = is_removed ? find(own, key) : NULL;
    if (entry != NULL) {
        drop(entry);
    }
    pthread_mutex_unlock(&own->mutex);
    return is_removed ? NC_OK : NC_ERR_FILE;
}

static nc_status remove_all(void *ctx, nc_slice host, nc_error *err) {
    own_store *own = ctx;
    (void)err;
    pthread_mutex_lock(&own->mutex);
    own->clearings++;
    bool is_removed = own->fault != OWN_STORE_FAILS && own->fault != OWN_STORE_KEEPS;
    for (size_t i = 0; i < OWN_STORE_ENTRIES && is_removed; i++) {
        if (own->entries[i].bytes != NULL && (host.length == 0 || nc_slice_is_equal(host_of(&own->entries[i]), host))) {
            drop(&own->entries[i]);
        }
    }
    pthread_mutex_unlock(&own->mutex);
    return is_removed ? NC_OK : NC_ERR_FILE;
}

static void release(void *ctx) {
    ((own_store *)ctx)->releases++;
}

/* --- for tests --- */

void own_store_init(own_store *own) {
    *own = (own_store){.store = {own, get, put, remove_one, remove_all, release, false}};
    assert_int_equal(pthread_mutex_init(&own->mutex, NULL), 0);
    assert_int_equal(pthread_cond_init(&own->changed, NULL), 0);
}

void own_store_deinit(own_store *own) {
    for (size_t i = 0; i < OWN_STORE_ENTRIES; i++) {
        drop(&own->entries[i]);
    }
    pthread_cond_destroy(&own->changed);
    pthread_mutex_destroy(&own->mutex);
}

size_t own_store_count(own_store *own) {
    size_t count = 0;
    for (size_t i = 0; i < OWN_STORE_ENTRIES; i++) {
        count += own->entries[i].bytes != NULL ? 1 : 0;
    }
    return count;
}

size_t own_store_last_bytes(own_store *own) {
    size_t bytes = 0;
    for (size_t i = 0; i < OWN_STORE_ENTRIES; i++) {
        bytes = own->entries[i].bytes != NULL ? own->entries[i].metadata + own->entries[i].body : bytes;
    }
    return bytes;
}

void own_store_wait_for_lookup(own_store *own) {
    pthread_mutex_lock(&own->mutex);
    while (own->waiting == 0) {
        pthread_cond_wait(&own->changed, &own->mutex);
    }
    pthread_mutex_unlock(&own->mutex);
}

void own_store_set_slow(own_store *own, bool is_slow) {
    pthread_mutex_lock(&own->mutex);
    own->is_slow = is_slow;
    pthread_cond_broadcast(&own->changed);
    pthread_mutex_unlock(&own->mutex);
}
