#include "base/alloc.h"
#include "base/error.h"

#include <netcore/memory_cache.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { FIRST_BUCKETS = 64, DEFAULT_SOFT_QUARTERS = 3, MAX_SHARE = 100, WORD_BYTES = 8 };

/// A link in the order of use.
typedef struct ring_link {
    struct ring_link *newer;
    struct ring_link *older;
} ring_link;

struct nc_memory_value {
    ring_link link; // the first field: a link's address is also its value's
    atomic_size_t holders;
    uint64_t hash;
    uint64_t cost;
    uint64_t lifetime_ms;
    int64_t created_at_ms;
    size_t key_bytes;
    size_t metadata_bytes;
    size_t body_bytes;
    nc_memory_value *next; // in the bucket
    uint8_t bytes[];       // key, metadata, body
};

struct nc_memory_cache {
    nc_clock clock;
    uint64_t seed[2];
    uint64_t soft_limit;
    uint64_t share;
    pthread_mutex_t mutex;
    nc_memory_value **buckets; // a power of two of them
    size_t bucket_count;
    ring_link ring; // its `newer` is the least recently used value, its `older` the most recent
    nc_memory_cache_stats stats;
};

/* --- keys --- */

static uint64_t mix(uint64_t a, uint64_t b) {
    // Both halves of the product: without the high half, keys that differ only in high bits would collide.
    uint64_t low = (a & UINT32_MAX) * (b >> 32);
    uint64_t high = (a >> 32) * (b & UINT32_MAX);
    uint64_t mixed = (a * b) ^ ((a >> 32) * (b >> 32)) ^ low ^ (high << 1);
    return mixed ^ mixed >> 29;
}

/// Hashes with a secret seed, so that an attacker cannot choose keys that share a bucket.
static uint64_t hash_of(const nc_memory_cache *cache, nc_slice key) {
    uint64_t hash = cache->seed[0] ^ key.length;
    for (size_t at = 0; at < key.length; at += WORD_BYTES) {
        uint64_t word = 0;
        memcpy(&word, key.data + at, key.length - at < WORD_BYTES ? key.length - at : WORD_BYTES);
        hash = mix(hash ^ word, cache->seed[1] + at);
    }
    return hash ^ hash >> 32;
}

static nc_memory_value **place_of(const nc_memory_cache *cache, nc_slice key, uint64_t hash) {
    nc_memory_value **place = &cache->buckets[hash & (cache->bucket_count - 1)];
    while (*place != NULL && ((*place)->hash != hash || (*place)->key_bytes != key.length ||
                              memcmp((*place)->bytes, key.data, key.length) != 0)) {
        place = &(*place)->next;
    }
    return place;
}

/* --- the ring --- */

static void unlink_value(nc_memory_value *value) {
    value->link.newer->older = value->link.older;
    value->link.older->newer = value->link.newer;
}

static void link_as_newest(nc_memory_cache *cache, nc_memory_value *value) {
    value->link = (ring_link){&cache->ring, cache->ring.older};
    cache->ring.older->newer = &value->link;
    cache->ring.older = &value->link;
}

/// Removes a value from its bucket and the ring, and releases it.
static void drop(nc_memory_cache *cache, nc_memory_value **place) {
    nc_memory_value *value = *place;
    *place = value->next;
    unlink_value(value);
    cache->stats.values--;
    cache->stats.cost_bytes -= value->cost;
    nc_memory_value_release(value);
}

static void make_room(nc_memory_cache *cache, uint64_t cost_bytes) {
    while (cache->stats.cost_bytes > cost_bytes) {
        nc_memory_value *oldest = (nc_memory_value *)cache->ring.newer;
        nc_memory_value **place = &cache->buckets[oldest->hash & (cache->bucket_count - 1)];
        while (*place != oldest) {
            place = &(*place)->next;
        }
        drop(cache, place);
        cache->stats.evictions++;
    }
}

/// Grows the table to at most twice as many buckets as values. A failure only makes lookups slower.
static void grow(nc_memory_cache *cache) {
    if (cache->stats.values < cache->bucket_count || cache->bucket_count > SIZE_MAX / 4 / sizeof *cache->buckets) {
        return;
    }
    size_t count = cache->bucket_count * 2;
    nc_memory_value **buckets = nc_alloc_zeroed(count, sizeof *buckets);
    if (buckets == NULL) {
        return;
    }
    for (ring_link *link = cache->ring.newer; link != &cache->ring; link = link->newer) {
        nc_memory_value *value = (nc_memory_value *)link;
        value->next = buckets[value->hash & (count - 1)];
        buckets[value->hash & (count - 1)] = value;
    }
    nc_free(cache->buckets);
    cache->buckets = buckets;
    cache->bucket_count = count;
}

/* --- time --- */

static int64_t now_ms(const nc_memory_cache *cache) {
    return cache->clock.realtime_ns(cache->clock.ctx) / 1000000;
}

/// A value with a lifetime and a creation time in the future has also expired.
static bool is_over(const nc_memory_cache *cache, const nc_memory_value *value) {
    if (value->lifetime_ms == NC_STORE_FOREVER) {
        return false;
    }
    int64_t now = now_ms(cache);
    return now < value->created_at_ms || (uint64_t)now - (uint64_t)value->created_at_ms >= value->lifetime_ms;
}

/* --- public --- */

static nc_status init(nc_memory_cache *cache, const nc_memory_cache_options *options, nc_error *err) {
    nc_random random = options->random != NULL ? *options->random : nc_random_system();
    uint64_t hard = options->hard_limit_bytes != 0 ? options->hard_limit_bytes : NC_MEMORY_CACHE_DEFAULT_BYTES;
    uint64_t percent = options->max_share != 0 ? options->max_share : NC_STORE_DEFAULT_MAX_SHARE;
    cache->clock = options->clock != NULL ? *options->clock : nc_clock_system();
    cache->stats.hard_limit_bytes = hard;
    cache->soft_limit = options->soft_limit_bytes != 0 ? options->soft_limit_bytes : hard / 4 * DEFAULT_SOFT_QUARTERS;
    cache->share = hard / 100 * percent + hard % 100 * percent / 100;
    cache->ring.newer = &cache->ring;
    cache->ring.older = &cache->ring;
    cache->bucket_count = FIRST_BUCKETS;
    if (cache->soft_limit > hard || percent > MAX_SHARE) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the soft limit is over the hard one, or the share over 100");
    }
    if (!random.fill(random.ctx, (uint8_t *)cache->seed, sizeof cache->seed)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "there are no random bytes");
    }
    cache->seed[1] |= 1;
    cache->buckets = nc_alloc_zeroed(FIRST_BUCKETS, sizeof(nc_memory_value *));
    return cache->buckets != NULL ? NC_OK : nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a cache");
}

nc_status nc_memory_cache_new(nc_memory_cache **out, const nc_memory_cache_options *options, nc_error *err) {
    if (out == NULL || options == NULL) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "an argument is missing");
    }
    nc_memory_cache *cache = nc_alloc_zeroed(1, sizeof *cache);
    if (cache == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a cache");
    }
    nc_status status = init(cache, options, err);
    if (status == NC_OK && pthread_mutex_init(&cache->mutex, NULL) != 0) {
        status = nc_error_set(err, NC_ERR_THREAD, 0, -1, "no mutex for a cache");
    }
    if (status != NC_OK) {
        nc_free(cache->buckets);
        nc_free(cache);
        return status;
    }
    *out = cache;
    return nc_error_clear(err);
}

void nc_memory_cache_free(nc_memory_cache *cache) {
    if (cache == NULL) {
        return;
    }
    make_room(cache, 0);
    pthread_mutex_destroy(&cache->mutex);
    nc_free(cache->buckets);
    nc_free(cache);
}

const nc_memory_value *nc_memory_cache_get(nc_memory_cache *cache, nc_slice key) {
    uint64_t hash = hash_of(cache, key);
    pthread_mutex_lock(&cache->mutex);
    nc_memory_value **place = place_of(cache, key, hash);
    nc_memory_value *value = *place;
    if (value != NULL && is_over(cache, value)) {
        drop(cache, place);
        value = NULL;
    }
    if (value != NULL) {
        unlink_value(value);
        link_as_newest(cache, value);
        (void)atomic_fetch_add_explicit(&value->holders, 1, memory_order_relaxed);
        cache->stats.hits++;
    } else {
        cache->stats.misses++;
    }
    pthread_mutex_unlock(&cache->mutex);
    return value;
}

static void append(uint8_t **at, nc_slice bytes) {
    if (bytes.length != 0) {
        memcpy(*at, bytes.data, bytes.length);
        *at += bytes.length;
    }
}

nc_status nc_memory_cache_put(nc_memory_cache *cache, const nc_store_draft *draft, nc_slice body, nc_error *err) {
    size_t cost =
        sizeof(nc_memory_value) > NC_MEMORY_CACHE_OVERHEAD ? sizeof(nc_memory_value) : NC_MEMORY_CACHE_OVERHEAD;
    if (draft == NULL || draft->key.length == 0) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the key is empty");
    }
    if (!nc_size_add(&cost, cost, draft->key.length) || !nc_size_add(&cost, cost, draft->metadata.length) ||
        !nc_size_add(&cost, cost, body.length) || cost > cache->share) {
        return nc_error_set(err, NC_ERR_TOO_LARGE, 0, -1, "a value is over its share of the cache");
    }
    nc_memory_value *value = nc_alloc(cost);
    if (value == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a value");
    }
    uint8_t *at = value->bytes;
    atomic_init(&value->holders, 1);
    value->hash = hash_of(cache, draft->key);
    value->cost = cost;
    value->lifetime_ms = draft->lifetime_ms != 0 ? draft->lifetime_ms : NC_STORE_FOREVER;
    value->created_at_ms = draft->created_at_ms != 0 ? draft->created_at_ms : now_ms(cache);
    value->key_bytes = draft->key.length;
    value->metadata_bytes = draft->metadata.length;
    value->body_bytes = body.length;
    append(&at, draft->key);
    append(&at, draft->metadata);
    append(&at, body);
    pthread_mutex_lock(&cache->mutex);
    nc_memory_value **place = place_of(cache, draft->key, value->hash);
    if (*place != NULL) {
        drop(cache, place);
    }
    // Before the value is added, so that it does not evict itself, even if it costs more than the soft limit.
    if (cache->stats.cost_bytes > cache->stats.hard_limit_bytes - cost) {
        make_room(cache, cache->soft_limit > cost ? cache->soft_limit - cost : 0);
    }
    grow(cache);
    place = &cache->buckets[value->hash & (cache->bucket_count - 1)];
    value->next = *place;
    *place = value;
    link_as_newest(cache, value);
    cache->stats.values++;
    cache->stats.cost_bytes += cost;
    pthread_mutex_unlock(&cache->mutex);
    return nc_error_clear(err);
}

bool nc_memory_cache_remove(nc_memory_cache *cache, nc_slice key) {
    uint64_t hash = hash_of(cache, key);
    pthread_mutex_lock(&cache->mutex);
    nc_memory_value **place = place_of(cache, key, hash);
    bool was_there = *place != NULL;
    if (was_there) {
        drop(cache, place);
    }
    pthread_mutex_unlock(&cache->mutex);
    return was_there;
}

void nc_memory_cache_trim(nc_memory_cache *cache, uint64_t cost_bytes) {
    pthread_mutex_lock(&cache->mutex);
    make_room(cache, cost_bytes);
    pthread_mutex_unlock(&cache->mutex);
}

nc_memory_cache_stats nc_memory_cache_figures(nc_memory_cache *cache) {
    pthread_mutex_lock(&cache->mutex);
    nc_memory_cache_stats stats = cache->stats;
    pthread_mutex_unlock(&cache->mutex);
    return stats;
}

nc_slice nc_memory_value_metadata(const nc_memory_value *value) {
    return nc_slice_make(value->bytes + value->key_bytes, value->metadata_bytes);
}

nc_slice nc_memory_value_body(const nc_memory_value *value) {
    return nc_slice_make(value->bytes + value->key_bytes + value->metadata_bytes, value->body_bytes);
}

int64_t nc_memory_value_created_at_ms(const nc_memory_value *value) {
    return value->created_at_ms;
}

void nc_memory_value_release(const nc_memory_value *value) {
    nc_memory_value *held = (nc_memory_value *)value;
    if (held != NULL && atomic_fetch_sub_explicit(&held->holders, 1, memory_order_acq_rel) == 1) {
        nc_free(held);
    }
}
