#include "base/alloc.h"
#include "base/error.h"
#include "base/fnv.h"
#include "client/cache_record.h"
#include "client/checked_store.h"
#include "store/canonical_form.h"

#include <netcore/url.h>
#include <string.h>

/// The key under which the store keeps the hash key. It differs from the keys of all requests, which begin with a
/// version.
static const char hash_key_name[] = "netcore http cache key";

static nc_buf room_for_entry(const nc_http_cache *cache) {
    uint64_t most = cache->max_body_bytes + 2u * NC_STORE_MAX_METADATA_BYTES + NC_STORE_MAX_KEY_BYTES + 65536u;
    return nc_buf_init(most < SIZE_MAX / 2 ? (size_t)most : SIZE_MAX / 2);
}

/* --- changes; the caller holds the mutex --- */

static uint64_t *last_change_of(nc_http_cache *cache, uint64_t hash) {
    return &cache->last_changes[nc_fnv_fold(hash) % NC_CACHE_CHANGES];
}

static void add_change(nc_http_cache *cache, nc_tier_key key, uint64_t requested) {
    nc_cache_change *change = &cache->changes[cache->next_change];
    // The oldest change is replaced. After a clear, it is older than the moment of that.
    cache->known_since = change->moment > cache->known_since ? change->moment : cache->known_since;
    *change = (nc_cache_change){.hash = key.hash, .moment = ++cache->moment, .requested = requested};
    *last_change_of(cache, key.hash) = change->moment;
    cache->next_change = (cache->next_change + 1) % NC_CACHE_CHANGES;
}

/// Returns true if the key was invalidated since a moment, or if the changes since then are no longer known. With
/// `counts_responses`, also if the response to a later request was stored under the key.
static bool is_changed(nc_http_cache *cache, nc_tier_key key, uint64_t moment, bool counts_responses) {
    // In most cases no key of the same bucket was changed since.
    bool is_possible = *last_change_of(cache, key.hash) > moment;
    for (size_t i = 0; i < NC_CACHE_CHANGES && is_possible; i++) {
        const nc_cache_change *change = &cache->changes[i];
        bool is_later =
            change->requested == 0 ? change->moment > moment : counts_responses && change->requested > moment;
        if (change->hash == key.hash && is_later) {
            return true;
        }
    }
    return moment < cache->known_since;
}

static bool may_put(nc_http_cache *cache, nc_tier_key key, nc_tier_key url, uint64_t moment) {
    return !is_changed(cache, key, moment, true) && !is_changed(cache, url, moment, false);
}

/* --- the key of the hashes --- */

/// Reads the key from the store. Returns NC_OK, NC_ERR_NOT_CACHED, or the error of the store.
static nc_status read_key(uint8_t out[NC_KEYED_HASH_KEY_BYTES], const nc_http_cache *cache) {
    nc_buf room = nc_buf_init(2 * NC_STORE_MAX_METADATA_BYTES);
    nc_checked_entry found;
    nc_status status = nc_checked_store_get(&found, &cache->store, nc_slice_of(hash_key_name), &room);
    if (status == NC_OK && found.body.length != NC_KEYED_HASH_KEY_BYTES) {
        status = NC_ERR_NOT_CACHED;
    }
    if (status == NC_OK) {
        memcpy(out, found.body.data, NC_KEYED_HASH_KEY_BYTES);
    }
    nc_buf_deinit(&room);
    return status;
}

static nc_status write_key(const nc_http_cache *cache) {
    const nc_cache_store_entry entry = {.key = nc_slice_of(hash_key_name),
                                        .body = nc_slice_make(cache->key, sizeof cache->key)};
    return nc_checked_store_put(&cache->store, &entry);
}

static nc_status load_key(nc_http_cache *cache, const uint8_t *key, nc_error *err) {
    if (key != NULL) {
        memcpy(cache->key, key, sizeof cache->key);
        return NC_OK;
    }
    if (!cache->random.fill(cache->random.ctx, cache->key, sizeof cache->key)) {
        return nc_error_set(err, NC_ERR_UNSUPPORTED, 0, -1, "a cache cannot be created: there are no random bytes");
    }
    cache->keeps_key = cache->has_store;
    // If the store fails, the responses of this process are not found by the next one.
    if (cache->has_store && read_key(cache->key, cache) == NC_ERR_NOT_CACHED && write_key(cache) == NC_OK) {
        // Another process may have stored its own key in the meantime. Both use the one that was written last.
        nc_status status = read_key(cache->key, cache);
        (void)status;
    }
    return NC_OK;
}

void nc_http_cache_keep_key(nc_http_cache *cache) {
    uint8_t stored[NC_KEYED_HASH_KEY_BYTES];
    if (cache->keeps_key && read_key(stored, cache) == NC_ERR_NOT_CACHED) {
        // A failure means only that the response will not be found by the next process.
        nc_status status = write_key(cache);
        (void)status;
    }
}

/* --- lifetime --- */

static nc_status check_stores(const nc_http_cache_options *options, nc_error *err) {
    const nc_cache_store *own = options->cache_store;
    if (own != NULL && options->store != NULL) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a cache has one store: set `store` or `cache_store`, not both");
    }
    if (own != NULL && (own->get == NULL || own->put == NULL || own->remove == NULL || own->remove_all == NULL)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the store of a cache lacks get, put, remove or remove_all");
    }
    return NC_OK;
}

static void choose_store(nc_http_cache *cache, const nc_http_cache_options *options) {
    cache->has_store = options->store != NULL || options->cache_store != NULL;
    if (options->cache_store != NULL) {
        cache->store = *options->cache_store;
    } else if (options->store != NULL) {
        cache->store = nc_cache_store_on_disk(options->store);
    }
}

static void free_cache(nc_http_cache *cache) {
    nc_memory_tier_clear(&cache->tier);
    nc_memory_tier_clear(&cache->unremoved);
    pthread_mutex_destroy(&cache->mutex);
    nc_free(cache);
}

nc_status nc_http_cache_new(nc_http_cache **out, const nc_http_cache_options *options, nc_error *err) {
    static const nc_http_cache_options defaults = {0};
    const nc_http_cache_options *from = options != NULL ? options : &defaults;
    nc_status status = check_stores(from, err);
    if (status != NC_OK) {
        return status;
    }
    nc_http_cache *cache = nc_alloc_zeroed(1, sizeof *cache);
    if (cache == NULL || pthread_mutex_init(&cache->mutex, NULL) != 0) {
        nc_free(cache);
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a cache");
    }
    cache->max_body_bytes = from->max_body_bytes != 0 ? from->max_body_bytes : NC_HTTP_CACHE_DEFAULT_BODY_BYTES;
    cache->random = from->random != NULL ? *from->random : nc_random_system();
    choose_store(cache, from);
    nc_memory_tier_init(&cache->unremoved, UINT64_MAX);
    nc_memory_tier_init(&cache->tier,
                        from->max_memory_bytes != 0 ? from->max_memory_bytes : NC_HTTP_CACHE_DEFAULT_MEMORY_BYTES);
    status = load_key(cache, from->hash_key, err);
    if (status != NC_OK) {
        free_cache(cache);
        return status;
    }
    *out = cache;
    return nc_error_clear(err);
}

void nc_http_cache_free(nc_http_cache *cache) {
    if (cache != NULL) {
        if (cache->has_store && cache->store.release != NULL) {
            cache->store.release(cache->store.ctx);
        }
        free_cache(cache);
    }
}

nc_http_cache_stats nc_http_cache_figures(nc_http_cache *cache) {
    pthread_mutex_lock(&cache->mutex);
    nc_http_cache_stats stats = cache->stats;
    stats.memory_entries = cache->tier.count;
    stats.memory_bytes = cache->tier.bytes;
    pthread_mutex_unlock(&cache->mutex);
    return stats;
}

/* --- reading --- */

uint64_t nc_http_cache_begin(nc_http_cache *cache) {
    pthread_mutex_lock(&cache->mutex);
    uint64_t moment = ++cache->moment;
    pthread_mutex_unlock(&cache->mutex);
    return moment;
}

/// Records that the store could not remove the entry of a key.
static void record_unremoved(nc_http_cache *cache, nc_tier_key key) {
    nc_tier_entry *entry = nc_tier_entry_new(key, nc_slice_of(""), nc_slice_of(""));
    pthread_mutex_lock(&cache->mutex);
    if (entry == NULL || cache->unremoved.bytes >= NC_CACHE_MAX_UNREMOVED_BYTES) {
        cache->is_store_unusable = true;
    } else {
        nc_memory_tier_put(&cache->unremoved, entry);
    }
    pthread_mutex_unlock(&cache->mutex);
    nc_tier_entry_release(entry);
}

static void remove_from_store(nc_http_cache *cache, nc_tier_key key) {
    if (!nc_checked_store_remove(&cache->store, key.text)) {
        record_unremoved(cache, key);
    }
}

/// Returns true if the store has an obsolete entry under the key. Then tries to remove it again.
static bool is_obsolete_in_store(nc_http_cache *cache, nc_tier_key key) {
    pthread_mutex_lock(&cache->mutex);
    bool is_unusable = cache->is_store_unusable;
    nc_tier_entry *entry = cache->unremoved.count > 0 ? nc_memory_tier_get(&cache->unremoved, key) : NULL;
    pthread_mutex_unlock(&cache->mutex);
    bool is_obsolete = entry != NULL;
    if (is_obsolete && nc_checked_store_remove(&cache->store, key.text)) {
        pthread_mutex_lock(&cache->mutex);
        nc_memory_tier_remove(&cache->unremoved, key);
        pthread_mutex_unlock(&cache->mutex);
    }
    nc_tier_entry_release(entry);
    return is_obsolete || is_unusable;
}

static nc_tier_entry *read_store(nc_http_cache *cache, nc_tier_key key) {
    nc_buf room = room_for_entry(cache);
    nc_checked_entry found;
    nc_status status = is_obsolete_in_store(cache, key) ? NC_ERR_NOT_CACHED
                                                        : nc_checked_store_get(&found, &cache->store, key.text, &room);
    if (status == NC_OK) {
        return nc_tier_entry_in(&room, key, found.metadata, found.body);
    }
    nc_buf_deinit(&room);
    if (status != NC_ERR_NOT_CACHED) {
        pthread_mutex_lock(&cache->mutex);
        cache->stats.failed_gets++;
        pthread_mutex_unlock(&cache->mutex);
    }
    return NULL;
}

nc_tier_entry *nc_http_cache_get(nc_http_cache *cache, nc_slice text) {
    const nc_tier_key key = nc_tier_key_of(text);
    pthread_mutex_lock(&cache->mutex);
    nc_tier_entry *entry = nc_memory_tier_get(&cache->tier, key);
    uint64_t moment = cache->moment;
    cache->stats.memory_hits += entry != NULL ? 1 : 0;
    cache->stats.misses += entry == NULL && !cache->has_store ? 1 : 0;
    pthread_mutex_unlock(&cache->mutex);
    if (entry != NULL || !cache->has_store) {
        return entry;
    }
    entry = read_store(cache, key);
    pthread_mutex_lock(&cache->mutex);
    cache->stats.store_hits += entry != NULL ? 1 : 0;
    cache->stats.misses += entry == NULL ? 1 : 0;
    // Another thread may have removed or replaced the entry while it was read.
    if (entry != NULL && !is_changed(cache, key, moment, true)) {
        nc_memory_tier_put(&cache->tier, entry);
    }
    pthread_mutex_unlock(&cache->mutex);
    return entry;
}

/* --- writing --- */

static void remove_entry(nc_http_cache *cache, nc_tier_key key) {
    pthread_mutex_lock(&cache->mutex);
    nc_memory_tier_remove(&cache->tier, key);
    pthread_mutex_unlock(&cache->mutex);
    if (cache->has_store) {
        remove_from_store(cache, key);
    }
}

void nc_http_cache_remove(nc_http_cache *cache, nc_slice key) {
    remove_entry(cache, nc_tier_key_of(key));
}

void nc_http_cache_invalidate(nc_http_cache *cache, nc_slice text) {
    const nc_tier_key key = nc_tier_key_of(text);
    pthread_mutex_lock(&cache->mutex);
    add_change(cache, key, 0);
    pthread_mutex_unlock(&cache->mutex);
    remove_entry(cache, key);
}

static nc_status clear_store(nc_http_cache *cache, nc_error *err) {
    nc_status status = nc_checked_store_remove_all(&cache->store, nc_slice_of(""), err);
    if (status == NC_OK) {
        pthread_mutex_lock(&cache->mutex);
        nc_memory_tier_clear(&cache->unremoved);
        cache->is_store_unusable = false;
        pthread_mutex_unlock(&cache->mutex);
        nc_http_cache_keep_key(cache);
    }
    return status;
}

/// Responses to earlier requests are not stored.
static void forget_requests(nc_http_cache *cache) {
    cache->known_since = ++cache->moment;
    memset(cache->changes, 0, sizeof cache->changes);
    memset(cache->last_changes, 0, sizeof cache->last_changes);
}

nc_status nc_http_cache_clear(nc_http_cache *cache, nc_error *err) {
    pthread_mutex_lock(&cache->mutex);
    forget_requests(cache);
    nc_memory_tier_clear(&cache->tier);
    pthread_mutex_unlock(&cache->mutex);
    if (!cache->has_store) {
        return nc_error_clear(err);
    }
    return clear_store(cache, err);
}

/// Returns the URL in a key; empty if there is none.
static nc_slice url_of(nc_slice key) {
    nc_slice rest = key;
    size_t at = CANONICAL_FORM_HEAD_BYTES;
    static const canonical_tag tags[] = {TAG_METHOD, TAG_URL};
    for (size_t i = 0; i < 2; i++) {
        uint32_t length = 0;
        if (at >= key.length || key.data[at] != (uint8_t)tags[i]) {
            return nc_slice_of("");
        }
        rest = nc_slice_make(key.data + at + 1, key.length - at - 1);
        size_t prefix = nc_canonical_form_length(&length, rest);
        if (prefix == 0 || length > rest.length - prefix) {
            return nc_slice_of("");
        }
        rest = nc_slice_make(rest.data + prefix, length);
        at += 1 + prefix + length;
    }
    return rest;
}

/// Returns true if a key is for a URL of the host, or if memory is exhausted.
static bool is_of_host(nc_slice key, nc_slice host) {
    nc_buf own = nc_buf_init(NC_URL_MAX_BYTES);
    nc_status status = nc_url_host(&own, url_of(key), NULL);
    bool is_match = status == NC_ERR_NO_MEMORY || (status == NC_OK && nc_slice_is_equal(nc_buf_slice(&own), host));
    nc_buf_deinit(&own);
    return is_match;
}

nc_status nc_http_cache_remove_host(nc_http_cache *cache, nc_slice host, nc_error *err) {
    nc_buf own = nc_buf_init(NC_URL_MAX_BYTES);
    nc_status status = nc_url_canonical_host(&own, host, err);
    if (status == NC_OK) {
        pthread_mutex_lock(&cache->mutex);
        forget_requests(cache);
        nc_memory_tier_remove_if(&cache->tier, is_of_host, nc_buf_slice(&own));
        pthread_mutex_unlock(&cache->mutex);
    }
    if (status == NC_OK && cache->has_store) {
        status = nc_checked_store_remove_all(&cache->store, nc_buf_slice(&own), err);
    }
    nc_buf_deinit(&own);
    return status;
}

static bool put_in_store(nc_http_cache *cache, const nc_tier_entry *entry, nc_slice host) {
    const nc_cache_store_entry draft = {
        .key = entry->key, .host = host, .metadata = entry->metadata, .body = entry->body};
    pthread_mutex_lock(&cache->mutex);
    bool is_unusable = cache->is_store_unusable;
    pthread_mutex_unlock(&cache->mutex);
    if (is_unusable && clear_store(cache, NULL) != NC_OK) {
        return false;
    }
    return !cache->has_store || nc_checked_store_put(&cache->store, &draft) == NC_OK;
}

bool nc_http_cache_put(nc_http_cache *cache, nc_tier_entry *entry, nc_slice host, nc_slice url_key, uint64_t moment) {
    const nc_tier_key key = nc_tier_entry_key(entry);
    const nc_tier_key url = nc_tier_key_of(url_key);
    pthread_mutex_lock(&cache->mutex);
    bool is_wanted = may_put(cache, key, url, moment);
    if (is_wanted) {
        add_change(cache, key, moment);
    }
    pthread_mutex_unlock(&cache->mutex);
    if (!is_wanted) {
        return false;
    }
    bool is_stored = put_in_store(cache, entry, host);
    pthread_mutex_lock(&cache->mutex);
    // An invalidation during the write: the write may have put the invalid response back.
    bool is_valid = may_put(cache, key, url, moment);
    cache->stats.puts += is_stored && is_valid ? 1 : 0;
    cache->stats.failed_puts += is_stored ? 0 : 1;
    if (is_stored && is_valid) {
        nc_memory_tier_put(&cache->tier, entry);
        nc_memory_tier_remove(&cache->unremoved, key);
    }
    pthread_mutex_unlock(&cache->mutex);
    if (!is_stored || !is_valid) {
        remove_entry(cache, key);
    }
    return is_stored && is_valid;
}
