#include "client/cache_use.h"

#include "base/alloc.h"
#include "http/cache_parts.h"

#include <netcore/cache_functions.h>
#include <netcore/url.h>
#include <string.h>

/// The limits of the texts of one entry.
enum { MAX_VARY_BYTES = 16384, MAX_REMOVALS = NC_INDEX_MAX_CHOICES + 1 };

/* --- keys --- */

static nc_status url_key(nc_buf *out, const nc_cache_use *use, nc_slice url) {
    const nc_key_question question = {.from = &use->question, .identity = &use->identity, .url = url};
    return nc_cache_make_key(out, &question);
}

static nc_status variant_key(nc_buf *out, const nc_cache_use *use, nc_slice vary, uint64_t generation) {
    const nc_key_question question = {.from = &use->question,
                                      .identity = &use->identity,
                                      .url = use->request.url,
                                      .vary = &vary,
                                      .generation = generation};
    return nc_cache_make_key(out, &question);
}

void nc_cache_use_init(nc_cache_use *use, nc_engine *engine, const nc_request *request, bool has_scope) {
    use->asked = *request;
    use->key = nc_buf_init(NC_STORE_MAX_KEY_BYTES);
    use->question = (nc_cache_question){.cache = use->cache,
                                        .engine = engine,
                                        .request = &use->asked,
                                        .has_scope = has_scope,
                                        .scope = nc_buf_slice(&use->scope)};
    use->request = (nc_cache_request){.method = use->asked.method,
                                      .url = use->asked.url,
                                      .headers = use->asked.headers,
                                      .header_count = use->asked.header_count,
                                      .follows_redirects = use->asked.redirects != NC_REDIRECTS_RETURN};
    use->moment = nc_http_cache_begin(use->cache);
    use->has_key =
        nc_cache_identify(&use->identity, &use->question) && url_key(&use->key, use, use->asked.url) == NC_OK;
}

void nc_cache_use_deinit(nc_cache_use *use) {
    nc_cached_free(use->cached);
    nc_buf_deinit(&use->key);
    nc_buf_deinit(&use->scope);
}

/* --- lookup --- */

/// Returns the response for one of the Vary fields in the index; NULL if there is none.
static nc_cached *find_variant(const nc_cache_use *use, nc_slice metadata) {
    nc_variant_index index;
    if (!nc_variant_index_read(&index, metadata)) {
        return NULL;
    }
    for (size_t i = 0; i < index.count; i++) {
        nc_buf key = nc_buf_init(NC_STORE_MAX_KEY_BYTES);
        nc_status status = variant_key(&key, use, index.choices[i], index.generation);
        nc_tier_entry *entry = status == NC_OK ? nc_http_cache_get(use->cache, nc_buf_slice(&key)) : NULL;
        nc_cached *cached = entry != NULL ? nc_cached_read(entry) : NULL;
        nc_buf_deinit(&key);
        if (cached != NULL) {
            return cached;
        }
    }
    return NULL;
}

static bool varies_by_cookie(const nc_cached *cached) {
    return nc_members_contain((nc_fields){cached->stored.headers, cached->stored.header_count}, "Vary",
                              nc_slice_of("Cookie"));
}

/// Returns true if the response may be used for a request with these cookies. A response to a request without cookies
/// may be used for all requests, unless its Vary field names Cookie. The cookies of the jar are not among the fields.
static bool is_for(const nc_cache_use *use, const nc_cached *cached) {
    nc_slice owner = nc_slice_make(use->identity.owner, use->identity.owner_length);
    return nc_slice_is_equal(cached->owner, owner) || (cached->owner.length == 0 && !varies_by_cookie(cached));
}

void nc_cache_use_find(nc_cache_use *use) {
    nc_cached_free(use->cached);
    use->cached = NULL;
    use->is_own = false;
    use->miss = NC_CACHE_REASON_ABSENT;
    nc_tier_entry *entry = use->has_key ? nc_http_cache_get(use->cache, nc_buf_slice(&use->key)) : NULL;
    if (entry == NULL) {
        return;
    }
    use->cached = nc_cached_read(nc_tier_entry_retain(entry));
    if (use->cached == NULL) {
        use->miss = NC_CACHE_REASON_VARIES;
        use->cached = find_variant(use, entry->metadata);
    }
    nc_tier_entry_release(entry);
    if (use->cached != NULL) {
        use->is_own = is_for(use, use->cached);
        use->miss = use->cached->owner.length == 0 ? NC_CACHE_REASON_VARIES : NC_CACHE_REASON_OTHER_USER;
    }
}

const nc_cache_stored *nc_cache_use_stored(const nc_cache_use *use) {
    return use->is_own ? &use->cached->stored : NULL;
}

/* --- arrived responses --- */

void nc_arrived_read(nc_arrived *out, const nc_response *response, int64_t sent_at_ms, int64_t received_at_ms) {
    size_t count = nc_response_header_count(response);
    out->is_complete = count <= NC_CACHED_MAX_FIELDS;
    count = out->is_complete ? count : NC_CACHED_MAX_FIELDS;
    for (size_t i = 0; i < count; i++) {
        out->fields[i] = nc_response_header_at(response, i);
    }
    out->response = response;
    out->head = (nc_cache_response){.status = nc_response_status(response),
                                    .headers = out->fields,
                                    .header_count = count,
                                    .sent_at_ms = sent_at_ms,
                                    .received_at_ms = received_at_ms};
    // RFC 9110, 6.6.1: a recipient adds the time of arrival as Date.
    if (!nc_fields_has((nc_fields){out->fields, count}, "Date")) {
        nc_cache_write_date(out->date, received_at_ms);
        out->fields[out->head.header_count++] =
            (nc_header){nc_slice_of("Date"), nc_slice_make(out->date, sizeof out->date)};
    }
}

/* --- storing --- */

/// Writes the names in Vary as one text. Returns false if there are too many.
static bool write_vary(nc_buf *out, const nc_cached_draft *draft) {
    nc_vary vary;
    nc_vary_read(&vary, (nc_fields){draft->headers, draft->header_count});
    for (size_t i = 0; i < vary.count; i++) {
        if (i > 0) {
            nc_buf_append_byte(out, ',');
        }
        nc_buf_append(out, vary.names[i]);
    }
    return nc_buf_status(out) == NC_OK && !vary.is_any;
}

static uint64_t random_number(nc_http_cache *cache) {
    uint64_t number = 0;
    uint8_t bytes[8];
    if (cache->random.fill(cache->random.ctx, bytes, sizeof bytes)) {
        memcpy(&number, bytes, sizeof number);
    }
    return number;
}

static bool put_entry(nc_cache_use *use, nc_slice key, nc_buf *metadata, nc_slice body, uint64_t moment) {
    nc_buf host = nc_buf_init(NC_URL_MAX_BYTES);
    nc_slice shown = nc_url_host(&host, use->request.url, NULL) == NC_OK ? nc_buf_slice(&host) : nc_slice_of("");
    bool is_small = nc_buf_status(metadata) == NC_OK;
    nc_tier_entry *entry = is_small ? nc_tier_entry_new(nc_tier_key_of(key), nc_buf_slice(metadata), body) : NULL;
    bool is_stored = entry != NULL && nc_http_cache_put(use->cache, entry, shown, nc_buf_slice(&use->key), moment);
    nc_tier_entry_release(entry);
    nc_buf_deinit(&host);
    return is_stored;
}

/// Adds a Vary field to the index of the URL, and appends the key of its responses.
static bool index_variant(nc_buf *key, nc_cache_use *use, nc_slice vary) {
    nc_variant_index index;
    nc_tier_entry *entry = nc_http_cache_get(use->cache, nc_buf_slice(&use->key));
    if (entry == NULL || !nc_variant_index_read(&index, entry->metadata)) {
        index = (nc_variant_index){.generation = random_number(use->cache)};
    }
    bool is_known = true;
    if (nc_variant_index_add(&index, vary)) {
        nc_buf metadata = nc_buf_init(NC_STORE_MAX_METADATA_BYTES);
        nc_variant_index_write(&metadata, &index);
        // The index is as valid as the newest response in it.
        is_known = put_entry(use, nc_buf_slice(&use->key), &metadata, nc_slice_of(""), nc_http_cache_begin(use->cache));
        nc_buf_deinit(&metadata);
    }
    is_known = is_known && variant_key(key, use, vary, index.generation) == NC_OK;
    nc_tier_entry_release(entry);
    return is_known;
}

static bool put_response(nc_cache_use *use, const nc_cached_draft *draft, nc_slice body) {
    nc_buf vary = nc_buf_init(MAX_VARY_BYTES);
    nc_buf key = nc_buf_init(NC_STORE_MAX_KEY_BYTES);
    nc_buf metadata = nc_buf_init(NC_STORE_MAX_METADATA_BYTES);
    bool is_ready = write_vary(&vary, draft);
    if (is_ready && vary.length > 0) {
        is_ready = index_variant(&key, use, nc_buf_slice(&vary));
    } else if (is_ready) {
        nc_buf_append(&key, nc_buf_slice(&use->key));
    }
    if (is_ready && (!use->identity.is_shared || draft->owner.length > 0 || vary.length > 0)) {
        nc_http_cache_keep_key(use->cache);
    }
    nc_cached_write(&metadata, draft);
    bool is_stored =
        is_ready && nc_buf_status(&key) == NC_OK && put_entry(use, nc_buf_slice(&key), &metadata, body, use->moment);
    nc_buf_deinit(&vary);
    nc_buf_deinit(&key);
    nc_buf_deinit(&metadata);
    return is_stored;
}

static bool may_store(const nc_cache_use *use, const nc_arrived *arrived, nc_cache_freshness *freshness) {
    return use->has_key && arrived->is_complete && nc_response_hop_count(arrived->response) < 2 &&
           !nc_response_is_close_delimited(arrived->response) &&
           nc_response_body(arrived->response).length <= use->cache->max_body_bytes &&
           nc_cache_may_store(&use->request, &arrived->head, &use->policy, freshness) == NC_CACHE_STORABLE;
}

bool nc_cache_use_store(nc_cache_use *use, const nc_arrived *arrived) {
    nc_header fields[NC_CACHED_MAX_FIELDS + 1];
    nc_cache_freshness freshness;
    bool is_stored = false;
    if (may_store(use, arrived, &freshness)) {
        const nc_cached_draft draft = {
            .status = arrived->head.status,
            .http_version = nc_response_http_version(arrived->response),
            .url = nc_response_url(arrived->response),
            .owner = nc_slice_make(use->identity.owner, use->identity.owner_length),
            .freshness = freshness,
            .headers = fields,
            .header_count = nc_cache_stored_fields(fields, arrived->fields, arrived->head.header_count),
        };
        is_stored = draft.header_count <= NC_CACHED_MAX_FIELDS &&
                    put_response(use, &draft, nc_response_body(arrived->response));
    }
    bool may_remove = use->is_own || use->policy.mode == NC_CACHE_MODE_RELOAD;
    if (!is_stored && may_remove && nc_cache_supersedes(&use->request, arrived->head.status)) {
        nc_cache_use_remove(use);
    }
    return is_stored;
}

/// Returns the freshness by the updated fields. The age comes from the new response only; Age is not a stored field.
static nc_cache_freshness fresh_of(const nc_cache_use *use, nc_header *fields, size_t count, const nc_arrived *news) {
    const nc_header *age = nc_fields_find((nc_fields){news->fields, news->head.header_count}, "Age");
    nc_cache_response head = news->head;
    if (age != NULL) {
        fields[count++] = *age;
    }
    head.status = use->cached->stored.status;
    head.headers = fields;
    head.header_count = count;
    return nc_cache_freshness_of(&head, &use->policy);
}

/// Returns true if the updated response may still be stored.
static bool may_store_updated(const nc_cache_use *use, const nc_cached_draft *draft, const nc_arrived *arrived) {
    nc_cache_request get = use->request;
    const nc_cache_response head = {.status = draft->status,
                                    .headers = draft->headers,
                                    .header_count = draft->header_count,
                                    .sent_at_ms = arrived->head.sent_at_ms,
                                    .received_at_ms = arrived->head.received_at_ms};
    get.method = nc_slice_of("");
    return draft->header_count <= NC_CACHED_MAX_FIELDS && nc_response_hop_count(arrived->response) < 2 &&
           nc_cache_may_store(&get, &head, &use->policy, NULL) == NC_CACHE_STORABLE;
}

/// Makes the updated response the found one, also if it must not be stored.
static void replace_found(nc_cache_use *use, const nc_cached_draft *draft) {
    nc_buf metadata = nc_buf_init(NC_STORE_MAX_METADATA_BYTES);
    nc_cached_write(&metadata, draft);
    const nc_tier_entry *old = use->cached->entry;
    bool is_valid = draft->header_count <= NC_CACHED_MAX_FIELDS && nc_buf_status(&metadata) == NC_OK;
    nc_tier_entry *entry =
        is_valid ? nc_tier_entry_new(nc_tier_entry_key(old), nc_buf_slice(&metadata), old->body) : NULL;
    nc_cached *fresh = entry != NULL ? nc_cached_read(entry) : NULL;
    nc_buf_deinit(&metadata);
    if (fresh != NULL) {
        nc_cached_free(use->cached);
        use->cached = fresh;
        use->is_own = true;
    }
}

bool nc_cache_use_freshen(nc_cache_use *use, const nc_arrived *arrived) {
    nc_header fields[2 * NC_CACHED_MAX_FIELDS + 2];
    const nc_cached *old = use->cached;
    size_t count = nc_cache_merge(fields, 2 * NC_CACHED_MAX_FIELDS + 1, &old->stored, &arrived->head);
    const nc_cached_draft draft = {
        .status = old->stored.status,
        .http_version = old->http_version,
        .url = old->url,
        .owner = nc_slice_make(use->identity.owner, use->identity.owner_length),
        .freshness = fresh_of(use, fields, count, arrived),
        .headers = fields,
        .header_count = count,
    };
    bool is_storable = may_store_updated(use, &draft, arrived);
    bool is_stored = is_storable && put_response(use, &draft, old->entry->body);
    if (!is_storable) {
        nc_cache_use_remove(use);
    }
    replace_found(use, &draft);
    return is_stored;
}

/* --- removing --- */

void nc_cache_use_remove(nc_cache_use *use) {
    nc_cached *kept = use->cached;
    bool was_own = use->is_own;
    if (!use->has_key) {
        return;
    }
    // After a removal, the request may match an older response that was stored with another Vary field.
    use->cached = NULL;
    for (int i = 0; i < MAX_REMOVALS; i++) {
        nc_cache_use_find(use);
        if (use->cached == NULL || !use->is_own) {
            break;
        }
        nc_http_cache_remove(use->cache, use->cached->entry->key);
    }
    nc_cached_free(use->cached);
    use->cached = kept;
    use->is_own = was_own;
}

void nc_cache_use_invalidate(nc_cache_use *use, nc_slice url) {
    if (!use->has_key) {
        return;
    }
    for (unsigned variant = 0; variant < 4; variant++) {
        nc_buf key = nc_buf_init(NC_STORE_MAX_KEY_BYTES);
        const nc_key_question question = {.from = &use->question,
                                          .identity = &use->identity,
                                          .url = url,
                                          .is_anonymous = (variant & 1) != 0,
                                          .toggles_codings = (variant & 2) != 0};
        if (nc_cache_make_key(&key, &question) == NC_OK) {
            nc_http_cache_invalidate(use->cache, nc_buf_slice(&key));
        }
        nc_buf_deinit(&key);
    }
}
