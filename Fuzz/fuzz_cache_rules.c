/// Covers: http/cache_control.c http/cache_freshness.c http/cache_decision.c http/cache_storage.c
/// Covers: http/cache_conditions.c http/cache_vary.c http/cache_invalidation.c http/field_list.c http/http_date.c
///
/// Decisions of the cache, checked by the rules that each of them must keep, and max-age by a second reader.
/// Input: method, mode, status, age and clock (two bytes each), then pieces of lines "Name:value": the request's
/// fields, the fields of the request that the response was stored for, the response's fields, and those of a later
/// response.
#include "input.h"

#include <netcore/cache_functions.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FIELDS = 64, BODY_BYTES = 100 };

typedef struct fields {
    nc_header at[MAX_FIELDS];
    size_t count;
} fields;

static fields read_fields(nc_slice text) {
    fields out = {.count = 0};
    while (text.length > 0 && out.count < MAX_FIELDS) {
        const uint8_t *end = memchr(text.data, '\n', text.length);
        size_t length = end != NULL ? (size_t)(end - text.data) : text.length;
        const uint8_t *colon = length > 0 ? memchr(text.data, ':', length) : NULL;
        size_t name = colon != NULL ? (size_t)(colon - text.data) : length;
        size_t value = colon != NULL ? name + 1 : length;
        out.at[out.count++] =
            (nc_header){nc_slice_make(text.data, name), nc_slice_make(text.data + value, length - value)};
        size_t taken = end != NULL ? length + 1 : length;
        text = nc_slice_make(text.data + taken, text.length - taken);
    }
    return out;
}

static bool is_named(nc_header field, const char *name) {
    return nc_slice_is_equal_ignoring_case(field.name, nc_slice_of(name));
}

static bool has(const nc_header *at, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (is_named(at[i], name)) {
            return true;
        }
    }
    return false;
}

/* --- a second reader of max-age --- */

/// Copies the members of a list, one per call, and marks the quoted bytes.
static bool take_member(char *out, bool *quoted, size_t *length, const char **at, const char *end) {
    bool is_quoted = false;
    *length = 0;
    if (*at >= end) {
        return false;
    }
    for (; *at < end; ++*at) {
        char byte = **at;
        if (byte == ',' && !is_quoted) {
            ++*at;
            return true;
        }
        quoted[*length] = is_quoted;
        out[(*length)++] = byte;
        if (is_quoted && byte == '\\' && *at + 1 < end) { // the next byte is literal
            ++*at;
            quoted[*length] = true;
            out[(*length)++] = **at;
        } else if (byte == '"') {
            is_quoted = !is_quoted;
        }
    }
    return true;
}

static int64_t model_seconds(const char *text, size_t length) {
    char plain[4096];
    size_t count = 0;
    bool is_string = length >= 2 && text[0] == '"' && text[length - 1] == '"';
    for (size_t i = is_string ? 1 : 0; i < length - (is_string ? 1 : 0); i++) {
        if (is_string && text[i] == '\\' && i + 2 < length) {
            i++;
        } else if (is_string && text[i] == '\\') {
            continue;
        }
        plain[count++] = text[i];
    }
    double value = 0;
    for (size_t i = 0; i < count; i++) {
        if (plain[i] < '0' || plain[i] > '9') {
            return 0;
        }
        value = value * 10 + (plain[i] - '0');
    }
    return value < (double)NC_CACHE_LONGEST_S ? (int64_t)value : NC_CACHE_LONGEST_S;
}

static int64_t model_max_age(const fields *all) {
    static char member[4096];
    static bool quoted[4096];
    for (size_t i = 0; i < all->count; i++) {
        nc_slice value = all->at[i].value;
        const char *at = (const char *)value.data;
        const char *end = at + value.length;
        if (!is_named(all->at[i], "Cache-Control") || value.length > 4000) {
            continue;
        }
        for (size_t length; take_member(member, quoted, &length, &at, end);) {
            char *text = member;
            while (length > 0 && (text[0] == ' ' || text[0] == '\t')) {
                text++, length--;
            }
            while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t')) {
                length--;
            }
            const char *mark = length > 0 ? memchr(text, '=', length) : NULL;
            size_t name = mark != NULL ? (size_t)(mark - text) : length;
            if (nc_slice_is_equal_ignoring_case(nc_slice_make(text, name), nc_slice_of("max-age"))) {
                return mark != NULL ? model_seconds(mark + 1, length - name - 1) : 0;
            }
        }
    }
    return NC_CACHE_NONE;
}

static void check_control(const fields *all) {
    nc_cache_control control = nc_cache_control_parse(all->at, all->count);
    bool is_long = false;
    for (size_t i = 0; i < all->count; i++) {
        is_long = is_long || all->at[i].value.length > 4000;
    }
    CHECK(is_long || control.max_age_s == model_max_age(all));
    CHECK(control.max_age_s >= NC_CACHE_NONE && control.max_age_s <= NC_CACHE_LONGEST_S);
}

/* --- rules that every result keeps --- */

static void check_decision(const nc_cache_request *request, const nc_cache_stored *stored,
                           const nc_cache_policy *policy, int64_t now_ms) {
    nc_cache_decision decision = nc_cache_decide(request, stored, policy, now_ms);
    nc_cache_control asked = nc_cache_control_parse(request->headers, request->header_count);
    const nc_cache_freshness *fresh = &stored->freshness;
    int64_t lifetime = fresh->lifetime_ms > 0 ? fresh->lifetime_ms : 0;
    bool is_only = policy->mode == NC_CACHE_MODE_CACHE_ONLY;
    if (decision.action == NC_CACHE_USE) {
        CHECK(!asked.no_store && !asked.no_cache && !fresh->no_cache);
        CHECK(policy->mode == NC_CACHE_MODE_DEFAULT || is_only || asked.only_if_cached);
        CHECK(decision.age_ms >= 0 && (decision.age_ms < lifetime || !fresh->must_revalidate));
        CHECK((decision.reason == NC_CACHE_REASON_FRESH) == (decision.age_ms < lifetime));
        CHECK(decision.form != NC_CACHE_FORM_PART ||
              (decision.first <= decision.last && decision.last < stored->body_bytes));
    }
    CHECK(!is_only || decision.action == NC_CACHE_USE || decision.action == NC_CACHE_FAIL);
    CHECK(decision.action != NC_CACHE_REVALIDATE || has(stored->headers, stored->header_count, "ETag") ||
          has(stored->headers, stored->header_count, "Last-Modified"));
    CHECK(decision.action != NC_CACHE_REVALIDATE || !has(request->headers, request->header_count, "If-None-Match"));
    decision = nc_cache_decide_after_failure(request, stored, policy, now_ms, 200);
    CHECK(decision.action != NC_CACHE_USE); // 200 is no failure
    decision = nc_cache_decide_after_failure(request, stored, policy, now_ms, 0);
    CHECK(decision.action != NC_CACHE_USE || !asked.no_store);
}

static void check_storing(const nc_cache_request *request, const nc_cache_response *response,
                          const nc_cache_policy *policy) {
    nc_cache_control control = nc_cache_control_parse(response->headers, response->header_count);
    nc_buf selected = nc_buf_init(1 << 20);
    bool has_selection = nc_cache_select(&selected, request, response->headers, response->header_count) == NC_OK;
    if (nc_cache_may_store(request, response, policy, NULL) == NC_CACHE_STORABLE) {
        CHECK(has_selection && response->status >= 200 && response->status != 206 && response->status != 304);
        CHECK(!control.no_store || control.must_understand);
        CHECK(policy->mode != NC_CACHE_MODE_NO_STORE);
    }
    CHECK(has_selection || selected.length == 0);
    nc_buf_deinit(&selected);
}

static bool holds(const nc_header *at, size_t count, nc_header field) {
    for (size_t i = 0; i < count; i++) {
        if (nc_slice_is_equal_ignoring_case(at[i].name, field.name) && nc_slice_is_equal(at[i].value, field.value)) {
            return true;
        }
    }
    return false;
}

static void check_merge(const nc_cache_stored *stored, const nc_cache_response *later) {
    nc_header merged[2 * MAX_FIELDS];
    nc_header again[3 * MAX_FIELDS];
    size_t count = nc_cache_merge(merged, 2 * MAX_FIELDS, stored, later);
    nc_cache_stored fresh = *stored;
    CHECK(count <= stored->header_count + later->header_count);
    CHECK(!has(merged, count, "Connection") || has(stored->headers, stored->header_count, "Connection"));
    CHECK(has(merged, count, "Content-Length") == has(stored->headers, stored->header_count, "Content-Length"));
    fresh.headers = merged;
    fresh.header_count = count;
    size_t twice = nc_cache_merge(again, 3 * MAX_FIELDS, &fresh, later);
    CHECK(twice == count); // the same update changes nothing more, except the order of fields with different names
    for (size_t i = 0; i < count; i++) {
        CHECK(holds(again, twice, merged[i]));
    }
    (void)nc_cache_confirms(stored, later);
    (void)nc_cache_is_same_version(stored, later);
}

static void check_invalidation(const nc_cache_request *request, const nc_cache_response *response) {
    nc_cache_invalidation found;
    nc_buf room = nc_buf_init(1 << 18);
    CHECK(nc_cache_invalidates(&found, &room, request, response) == NC_OK);
    CHECK(found.count <= 3);
    for (size_t i = 1; i < found.count; i++) {
        CHECK(nc_url_is_same_origin(found.urls[i], request->url));
    }
    nc_buf_deinit(&room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const methods[] = {"", "GET", "HEAD", "POST", "PUT", "OPTIONS"};
    input in = input_init(data, size);
    nc_cache_policy policy = NC_CACHE_POLICY_INIT;
    nc_cache_request request = {.url = nc_slice_of("http://h/a?b"), .follows_redirects = true};
    request.method = nc_slice_of(methods[input_byte(&in) % 6]);
    policy.mode = (nc_cache_mode)(input_byte(&in) % 5);
    uint16_t status = (uint16_t)(100 + input_byte(&in) * 2);
    int64_t received_ms = INT64_C(784111777000) + (int64_t)input_number(&in);
    int64_t now_ms = received_ms + (int64_t)input_number(&in) * 10 - 1000;
    fields asked = read_fields(input_piece(&in));
    fields stored_for = read_fields(input_piece(&in));
    fields arrived = read_fields(input_piece(&in));
    fields later = read_fields(input_rest(&in));
    nc_header kept[MAX_FIELDS];
    request.headers = asked.at;
    request.header_count = asked.count;
    nc_cache_response response = {status, arrived.at, arrived.count, received_ms, received_ms};
    nc_cache_response update = {304, later.at, later.count, now_ms, now_ms};
    nc_cache_stored stored = {.status = status, .headers = kept, .body_bytes = BODY_BYTES};
    stored.header_count = nc_cache_stored_fields(kept, arrived.at, arrived.count);
    stored.freshness = nc_cache_freshness_of(&response, &policy);
    stored.request_headers = stored_for.count > 0 ? stored_for.at : NULL;
    stored.request_header_count = stored_for.count;
    CHECK(stored.header_count <= arrived.count && !has(kept, stored.header_count, "Age"));
    check_control(&asked);
    check_control(&arrived);
    check_decision(&request, &stored, &policy, now_ms);
    check_storing(&request, &response, &policy);
    check_merge(&stored, &update);
    check_invalidation(&request, &response);
    (void)nc_cache_confirms_own(&stored, &update, &request);
    input_deinit(&in);
    return 0;
}
