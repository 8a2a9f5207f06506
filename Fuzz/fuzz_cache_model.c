/// Covers: http/cache_control.c http/cache_freshness.c http/cache_decision.c http/cache_storage.c
/// Covers: http/cache_conditions.c
///
/// The rules of the cache against a second, simple model. The input selects the meaning of a request and of a stored
/// response, as numbers and flags. The model evaluates these by the clauses of RFC 9111 and RFC 5861. The library gets
/// them as fields, written in one of many equivalent spellings.
#include "input.h"

#include <netcore/cache_functions.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MAX_FIELDS = 24, TEXT_BYTES = 8192, BODY_BYTES = 100 };

#define BEGIN_MS INT64_C(784111777000)
#define NONE INT64_C(-1)
#define ANY INT64_MAX

/* --- the meaning of a request and a response --- */

/// Cache-Control. Seconds are NONE without the directive.
typedef struct control {
    bool is_present;
    bool no_store, no_cache, must_revalidate, must_understand, is_public, immutable, only_if_cached;
    int64_t max_age, min_fresh, max_stale, while_revalidate, if_error;
} control;

typedef struct meaning {
    // The request.
    unsigned method; // GET, HEAD, POST, PUT
    control asked;
    bool has_pragma;
    unsigned condition; // 0 none, 1 If-None-Match of the stored tag, 2 of another, 3 "*", 4 If-Modified-Since
    int64_t since_s;    // relative to the beginning
    unsigned range;     // 0 none, 1 first-last, 2 first-, 3 suffix, 4 several, 5 after the end, 6 reversed
    bool has_if_range, has_if_match, follows;
    char select[8]; // the value of the field Foo
    // The response.
    uint16_t status;
    control said;
    bool has_date, has_expires, is_expires_valid, has_modified, has_tag, has_location, has_coding;
    bool is_part, names_itself;
    int64_t date_s, expires_s, modified_s, age_s;
    unsigned vary; // 0 none, 1 Foo, 2 "*"
    char selected[8];
    // The policy and the clock.
    nc_cache_policy policy;
    int64_t sent_ms, received_ms, now_ms;
    uint16_t failure;
} meaning;

static bool flag(input *in, unsigned one_of) {
    return input_byte(in) % one_of == 0;
}

static int64_t seconds(input *in) {
    static const int64_t values[] = {0, 1, 2, 9, 10, 11, 59, 60, 61, 100, 3600, 86400, INT64_C(1) << 40};
    unsigned chosen = input_byte(in) % 26;
    return chosen < 13 ? values[chosen] : NONE;
}

static control read_control(input *in, bool is_request) {
    control out = {.max_age = seconds(in), .min_fresh = NONE, .max_stale = NONE, .if_error = NONE};
    out.no_store = flag(in, 12);
    out.no_cache = flag(in, 10);
    out.while_revalidate = is_request ? NONE : seconds(in);
    out.if_error = flag(in, 2) ? seconds(in) : NONE;
    if (is_request) {
        out.min_fresh = flag(in, 4) ? seconds(in) : NONE;
        out.max_stale = flag(in, 3) ? seconds(in) : NONE;
        out.max_stale = flag(in, 12) ? ANY : out.max_stale;
        out.only_if_cached = flag(in, 8);
    } else {
        out.must_revalidate = flag(in, 6);
        out.must_understand = flag(in, 10);
        out.is_public = flag(in, 4);
        out.immutable = flag(in, 4);
    }
    return out;
}

static meaning read_meaning(input *in) {
    static const uint16_t statuses[] = {200, 200, 200, 200, 203, 204, 301, 302, 404, 410, 500, 503, 299, 206, 304, 103};
    static const uint16_t failures[] = {0, 500, 502, 503, 504, 501, 404, 200};
    meaning m = {.method = input_byte(in) % 8, .policy = NC_CACHE_POLICY_INIT};
    m.method = m.method > 3 ? 0 : m.method;
    m.asked = read_control(in, true);
    m.has_pragma = flag(in, 8);
    m.condition = input_byte(in) % 10;
    m.since_s = (int64_t)(input_byte(in) % 200) - 100;
    m.range = flag(in, 3) ? input_byte(in) % 7 : 0;
    m.has_if_range = flag(in, 16);
    m.has_if_match = flag(in, 16);
    m.follows = flag(in, 2);
    (void)snprintf(m.select, sizeof m.select, "v%u", input_byte(in) % 2);
    m.status = statuses[input_byte(in) % 16];
    m.said = read_control(in, false);
    m.has_date = !flag(in, 4);
    m.date_s = flag(in, 2) ? 0 : (int64_t)(input_byte(in) % 100) - 50;
    m.has_expires = flag(in, 3);
    m.is_expires_valid = !flag(in, 5);
    m.expires_s = (int64_t)(input_number(in) % 4000) - 100;
    m.has_modified = flag(in, 2);
    m.modified_s = 50 - (int64_t)input_number(in) * (flag(in, 4) ? 1000 : 1);
    m.has_tag = flag(in, 2);
    m.age_s = flag(in, 3) ? seconds(in) : NONE;
    m.has_location = flag(in, 2);
    m.has_coding = flag(in, 8);
    m.is_part = flag(in, 16);
    m.names_itself = flag(in, 2);
    m.vary = input_byte(in) % 5;
    (void)snprintf(m.selected, sizeof m.selected, "v%u", input_byte(in) % 2);
    m.policy.mode = (nc_cache_mode)(flag(in, 2) ? 0 : input_byte(in) % 5);
    m.policy.stale_while_revalidate_ms = flag(in, 4) ? input_number(in) : 0;
    m.policy.stale_if_error_ms = flag(in, 4) ? input_number(in) : 0;
    m.policy.heuristic_fraction = flag(in, 4) ? 0 : 0.125;
    m.sent_ms = BEGIN_MS - input_byte(in) * 10;
    m.received_ms = BEGIN_MS + (flag(in, 2) ? 0 : input_number(in));
    m.now_ms = m.received_ms + (int64_t)input_number(in) * (flag(in, 3) ? 1000 : 1) - (flag(in, 10) ? 1000 : 0);
    m.failure = failures[input_byte(in) % 8];
    return m;
}

/* --- spelling --- */

/// The fields of one message. Their texts are in `text`.
typedef struct message {
    char text[TEXT_BYTES];
    size_t length;
    nc_header at[MAX_FIELDS];
    size_t count;
} message;

__attribute__((format(printf, 3, 4))) static void add(message *out, const char *name, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *value = out->text + out->length;
    int length = vsnprintf(value, TEXT_BYTES - out->length, format, arguments);
    va_end(arguments);
    CHECK(length >= 0 && (size_t)length < TEXT_BYTES - out->length && out->count < MAX_FIELDS);
    out->length += (size_t)length + 1;
    out->at[out->count++] = (nc_header){nc_slice_of(name), nc_slice_make(value, (size_t)length)};
}

static void add_date(message *out, input *in, const char *name, int64_t s) {
    time_t at = (time_t)(BEGIN_MS / 1000 + s);
    char text[64];
    struct tm parts;
    (void)gmtime_r(&at, &parts);
    (void)strftime(text, sizeof text, flag(in, 4) ? "%a %b %e %H:%M:%S %Y" : "%a, %d %b %Y %H:%M:%S GMT", &parts);
    add(out, name, "%s", text);
}

/// The members of Cache-Control, as they are written.
typedef struct members {
    message *out;
    input *in;
    char list[1024];
    size_t length;
    bool has_any;
} members;

static void end_list(members *to) {
    if (to->length > 0) {
        add(to->out, flag(to->in, 2) ? "cache-control" : "Cache-Control", "%s", to->list);
        to->length = 0;
    }
}

static void put(members *to, const char *member) {
    static const char *const separators[] = {",", ", ", " ,\t", ",, "};
    if (flag(to->in, 6)) {
        end_list(to); // several fields are one list
    }
    const char *separator = to->length > 0 ? separators[input_byte(to->in) % 4] : "";
    bool is_upper = flag(to->in, 4);
    to->has_any = true;
    for (const char *at = separator; *at != '\0'; at++) {
        to->list[to->length++] = *at;
    }
    for (bool is_name = true; *member != '\0'; member++) {
        is_name = is_name && *member != '=';
        bool is_letter = is_name && is_upper && *member >= 'a' && *member <= 'z';
        to->list[to->length++] = (char)(is_letter ? *member - 32 : *member);
    }
    to->list[to->length] = '\0';
}

static void put_seconds(members *to, const char *name, int64_t s) {
    char member[80];
    static const char *const formats[] = {"%s=%lld", "%s=%lld", "%s=\"%lld\"", "%s=00%lld"};
    if (s == ANY) {
        put(to, name);
    } else if (s != NONE) {
        (void)snprintf(member, sizeof member, formats[input_byte(to->in) % 4], name, (long long)s); // NOLINT
        put(to, member);
        if (flag(to->in, 8)) { // the first one applies
            (void)snprintf(member, sizeof member, "%s=7", name);
            put(to, member);
        }
    }
}

static void put_flag(members *to, const char *name, bool is_set) {
    if (is_set) {
        put(to, name);
    }
}

/// Writes Cache-Control, with directives that have no meaning for a private cache.
static bool write_control(message *out, input *in, const control *c) {
    static const char *const others[] = {
        "private",      "s-maxage=1", "x=\"a, max-age=9, no-store\"", "proxy-revalidate",
        "no-transform", "max-ages=3", "no-cache=\"x-own\"",           "foo=no-store"};
    members to = {.out = out, .in = in};
    put_flag(&to, others[input_byte(in) % 8], flag(in, 3));
    put_flag(&to, "no-store", c->no_store);
    put_seconds(&to, "max-age", c->max_age);
    put_flag(&to, "no-cache", c->no_cache);
    put_seconds(&to, "min-fresh", c->min_fresh);
    put_flag(&to, "must-revalidate", c->must_revalidate);
    put_seconds(&to, "max-stale", c->max_stale);
    put_flag(&to, "must-understand", c->must_understand);
    put_seconds(&to, "stale-while-revalidate", c->while_revalidate);
    put_flag(&to, "public", c->is_public);
    put_seconds(&to, "stale-if-error", c->if_error);
    put_flag(&to, "immutable", c->immutable);
    put_flag(&to, "only-if-cached", c->only_if_cached);
    put_flag(&to, others[input_byte(in) % 8], flag(in, 3));
    end_list(&to);
    return to.has_any;
}

static void write_request(message *out, input *in, meaning *m) {
    static const char *const ranges[] = {"",           "bytes=2-5", "bytes=90-", "bytes=-7", "bytes=1-2,4-5",
                                         "bytes=100-", "bytes=5-2"};
    m->asked.is_present = write_control(out, in, &m->asked);
    if (m->has_pragma) {
        add(out, "Pragma", flag(in, 2) ? "no-cache" : "x, No-Cache");
    }
    if (m->condition == 1 || m->condition == 2) {
        const char *tag = m->condition == 1 ? "\"one\"" : "\"two\"";
        add(out, "If-None-Match", flag(in, 2) ? "W/%s" : "\"zero\", %s", tag);
    } else if (m->condition == 3) {
        add(out, "If-None-Match", "*");
    } else if (m->condition == 4) {
        add_date(out, in, "If-Modified-Since", m->since_s);
    }
    if (m->range != 0) {
        add(out, "Range", "%s", ranges[m->range]);
    }
    if (m->has_if_range) {
        add(out, "If-Range", "\"one\"");
    }
    if (m->has_if_match) {
        add(out, "If-Match", "\"one\"");
    }
    add(out, "Foo", "%s", m->select);
}

static void write_response(message *out, input *in, meaning *m) {
    m->said.is_present = write_control(out, in, &m->said);
    if (m->has_date) {
        add_date(out, in, "Date", m->date_s);
    }
    if (m->has_expires && m->is_expires_valid) {
        add_date(out, in, "expires", m->expires_s);
    } else if (m->has_expires) {
        add(out, "Expires", flag(in, 2) ? "0" : "soon");
    }
    if (m->has_modified) {
        add_date(out, in, "Last-Modified", m->modified_s);
    }
    if (m->age_s != NONE) {
        add(out, "Age", flag(in, 3) ? "%lld, 5" : "%lld", (long long)m->age_s);
    }
    if (m->has_tag) {
        add(out, "ETag", flag(in, 3) ? "W/\"one\"" : "\"one\"");
    }
    if (m->has_location) {
        add(out, "Location", "/b");
    }
    if (m->has_coding) {
        add(out, "Content-Encoding", "gzip");
    }
    if (m->is_part) {
        add(out, "Content-Range", "bytes 0-9/100");
    }
    add(out, "Content-Location", "%s", m->names_itself ? "http://h/a" : "http://h/c");
    if (m->vary == 1 || m->vary == 2) {
        add(out, "Vary", m->vary == 2 ? "Bar, *" : flag(in, 2) ? "foo" : "FOO, Bar, foo");
    }
}

/* --- the model --- */

static int64_t most(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t ms_of(int64_t s) {
    return s == NONE ? NONE : s * 1000;
}

/// RFC 9110, 15.1: statuses that are heuristically cacheable, except 206, which is never stored.
static bool is_heuristic(uint16_t status) {
    return status == 200 || status == 203 || status == 204 || status == 301 || status == 404 || status == 410;
}

/// RFC 9111, 4.2.1 and 4.2.2.
static int64_t model_lifetime(const meaning *m) {
    int64_t date = m->has_date ? BEGIN_MS + m->date_s * 1000 : m->received_ms;
    if (m->said.max_age != NONE) {
        return m->said.max_age * 1000;
    }
    if (m->has_expires) {
        return m->is_expires_valid ? most(0, BEGIN_MS + m->expires_s * 1000 - date) : 0;
    }
    if (!m->has_modified || m->policy.heuristic_fraction == 0 || (!is_heuristic(m->status) && !m->said.is_public)) {
        return NONE;
    }
    int64_t eighth = most(0, date - (BEGIN_MS + m->modified_s * 1000)) / 8;
    return eighth < 86400000 ? eighth : 86400000;
}

/// RFC 9111, 4.2.3. Date has a resolution of one second: less counts as 0.
static int64_t model_age(const meaning *m) {
    int64_t apparent = m->has_date ? most(0, m->received_ms - (BEGIN_MS + m->date_s * 1000)) : 0;
    int64_t corrected = most(0, m->age_s) * 1000 + (m->received_ms - m->sent_ms);
    return most(apparent < 1000 ? 0 : apparent, corrected);
}

static int64_t model_age_now(const meaning *m) {
    return m->now_ms < m->received_ms ? NONE : model_age(m) + (m->now_ms - m->received_ms);
}

/// Whether the stored response is one for this request, apart from its age.
static bool model_is_candidate(const meaning *m) {
    bool is_redirect = m->has_location && (m->status == 301 || m->status == 302);
    bool is_variant = m->vary == 2 || (m->vary == 1 && strcmp(m->select, m->selected) != 0);
    return m->method <= 1 && m->policy.mode != NC_CACHE_MODE_NO_STORE && m->policy.mode != NC_CACHE_MODE_RELOAD &&
           !m->asked.no_store && !is_variant && !(is_redirect && m->follows);
}

/// RFC 9111, 4 and 5.2.1; RFC 5861, 3; RFC 8246.
static bool model_is_usable(const meaning *m) {
    int64_t age = model_age_now(m);
    int64_t lifetime = most(0, model_lifetime(m));
    int64_t stale = age - lifetime;
    int64_t window = most(ms_of(m->said.while_revalidate), m->policy.stale_while_revalidate_ms);
    const control *asked = &m->asked;
    if (age == NONE || m->said.no_cache || asked->no_cache || (m->has_pragma && !asked->is_present)) {
        return false;
    }
    bool is_reload = asked->max_age == 0 && !(m->said.immutable && stale < 0);
    if (is_reload || (asked->max_age > 0 && age > asked->max_age * 1000) ||
        (asked->min_fresh != NONE && -stale < asked->min_fresh * 1000)) {
        return false;
    }
    bool allows = asked->max_stale == ANY || (asked->max_stale != NONE && stale <= asked->max_stale * 1000);
    return stale < 0 ||
           (!m->said.must_revalidate && (allows || stale < window || m->policy.mode == NC_CACHE_MODE_CACHE_ONLY));
}

/// The form of a response to the request's conditions and range (RFC 9110, 13.2.2 and 14.2); -1 if only the server can
/// respond.
static int model_form(const meaning *m) {
    bool has_condition = m->condition >= 1 && m->condition <= 4;
    bool is_tagged = m->condition >= 1 && m->condition <= 3;
    bool is_success = m->status >= 200 && m->status <= 299;
    bool is_current = false;
    if (!has_condition && m->range == 0 && !m->has_if_range && !m->has_if_match) {
        return m->method == 1 ? NC_CACHE_FORM_HEAD : NC_CACHE_FORM_WHOLE;
    }
    if (m->method == 1 || m->has_if_range || m->has_if_match) {
        return -1;
    }
    if (m->range != 0) {
        bool is_simple = m->range <= 3 && m->status == 200 && !m->has_coding && !has_condition;
        return is_simple ? NC_CACHE_FORM_PART : -1;
    }
    if (is_tagged) {
        is_current = m->condition == 3 || (m->condition == 1 && m->has_tag);
    } else if (m->has_modified || m->has_date) {
        is_current = (m->has_modified ? m->modified_s : m->date_s) <= m->since_s;
    }
    return is_current && is_success ? NC_CACHE_FORM_NOT_MODIFIED : NC_CACHE_FORM_WHOLE;
}

static nc_cache_action model_network(const meaning *m, bool may_revalidate) {
    bool has_condition =
        (m->condition >= 1 && m->condition <= 4) || m->range != 0 || m->has_if_range || m->has_if_match;
    if (m->policy.mode == NC_CACHE_MODE_CACHE_ONLY) {
        return NC_CACHE_FAIL;
    }
    if (m->asked.only_if_cached && m->policy.mode != NC_CACHE_MODE_NO_STORE && m->method <= 1) {
        return NC_CACHE_GATEWAY_TIMEOUT;
    }
    bool can = may_revalidate && m->method == 0 && !has_condition && (m->has_tag || m->has_modified);
    return can ? NC_CACHE_REVALIDATE : NC_CACHE_FETCH;
}

static nc_cache_action model_decide(int *form, const meaning *m) {
    bool is_first = m->policy.mode == NC_CACHE_MODE_NETWORK_FIRST && !m->asked.only_if_cached;
    bool is_candidate = model_is_candidate(m);
    *form = NC_CACHE_FORM_WHOLE;
    if (!is_candidate || is_first || !model_is_usable(m)) {
        return model_network(m, is_candidate);
    }
    *form = model_form(m);
    if (*form >= 0) {
        return NC_CACHE_USE;
    }
    *form = m->method == 1 ? NC_CACHE_FORM_HEAD : NC_CACHE_FORM_WHOLE;
    bool is_only = m->asked.only_if_cached && m->policy.mode != NC_CACHE_MODE_CACHE_ONLY;
    return is_only ? NC_CACHE_USE : model_network(m, true);
}

/// RFC 5861, 4.
static bool model_replaces_failure(const meaning *m) {
    static const uint16_t failures[] = {0, 500, 502, 503, 504};
    bool is_failure = false;
    int64_t age = model_age_now(m);
    int64_t window = most(ms_of(m->said.if_error), ms_of(m->asked.if_error));
    for (size_t i = 0; i < 5; i++) {
        is_failure = is_failure || m->failure == failures[i];
    }
    if (!is_failure || !model_is_candidate(m) || model_form(m) < 0) {
        return false;
    }
    if (m->policy.mode == NC_CACHE_MODE_NETWORK_FIRST) {
        return m->failure == 0;
    }
    if (m->policy.stale_if_error_ms > 0) {
        window = most(window, m->policy.stale_if_error_ms);
    }
    return age != NONE && !m->said.no_cache && !m->said.must_revalidate && window != NONE &&
           age - most(0, model_lifetime(m)) < window;
}

/// RFC 9111, 3.
static bool model_may_store(const meaning *m) {
    // Some servers send a part with another success. In other statuses, Content-Range has no meaning.
    bool is_part = m->status == 206 || (m->status >= 200 && m->status <= 299 && m->is_part);
    bool is_understood = m->status != 299 && m->status != 206;
    bool is_explicit = m->said.max_age != NONE || m->has_expires;
    if (m->policy.mode == NC_CACHE_MODE_NO_STORE || m->asked.no_store || m->status < 200 || m->status == 304 ||
        is_part || m->vary == 2 || (m->said.must_understand ? !is_understood : m->said.no_store)) {
        return false;
    }
    if (m->method == 2) {
        return is_explicit && m->names_itself; // RFC 9110, 9.3.3
    }
    bool can_be_revalidated = m->has_tag || m->has_modified || m->policy.mode == NC_CACHE_MODE_NETWORK_FIRST;
    return m->method == 0 &&
           (model_lifetime(m) != NONE || (can_be_revalidated && (is_heuristic(m->status) || m->said.is_public)));
}

/* --- comparison --- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const methods[] = {"GET", "HEAD", "POST", "PUT"};
    input in = input_init(data, size);
    meaning m = read_meaning(&in);
    message asked = {.count = 0};
    message arrived = {.count = 0};
    nc_header kept[MAX_FIELDS];
    write_request(&asked, &in, &m);
    write_response(&arrived, &in, &m);
    const nc_header selected = {nc_slice_of("Foo"), nc_slice_of(m.selected)};
    const nc_cache_request request = {.method = nc_slice_of(methods[m.method]),
                                      .url = nc_slice_of("http://h/a"),
                                      .headers = asked.at,
                                      .header_count = asked.count,
                                      .follows_redirects = m.follows};
    const nc_cache_response response = {m.status, arrived.at, arrived.count, m.sent_ms, m.received_ms};
    nc_cache_stored stored = {.status = m.status,
                              .headers = kept,
                              .body_bytes = BODY_BYTES,
                              .request_headers = &selected,
                              .request_header_count = 1};
    stored.header_count = nc_cache_stored_fields(kept, arrived.at, arrived.count);
    stored.freshness = nc_cache_freshness_of(&response, &m.policy);
    CHECK(stored.freshness.lifetime_ms == model_lifetime(&m));
    CHECK(stored.freshness.initial_age_ms == model_age(&m));
    CHECK(nc_cache_age_ms(&stored.freshness, m.now_ms) == model_age_now(&m));
    CHECK((nc_cache_may_store(&request, &response, &m.policy, NULL) == NC_CACHE_STORABLE) == model_may_store(&m));
    int form;
    nc_cache_action action = model_decide(&form, &m);
    nc_cache_decision decision = nc_cache_decide(&request, &stored, &m.policy, m.now_ms);
    CHECK(decision.action == action);
    CHECK(action != NC_CACHE_USE || (int)decision.form == form);
    decision = nc_cache_decide_after_failure(&request, &stored, &m.policy, m.now_ms, m.failure);
    CHECK((decision.action == NC_CACHE_USE) == model_replaces_failure(&m));
    CHECK(decision.action != NC_CACHE_USE || (int)decision.form == model_form(&m));
    input_deinit(&in);
    return 0;
}
