/// The rules of the HTTP cache against Tests/Vectors/cache_rules.json. The tests of NetKit run its rows too.
///
/// A row has a rule with its clause, an operation ("do"), and:
/// - request: "METHOD URL OPTION…" and fields. Options: mode=, swr= and sie= (milliseconds), fraction=,
///   returns-redirects.
/// - for: fields of the request that the response was stored for
/// - response: the status and fields of the response as it arrived; its body has 10 bytes
/// - update: the status and fields of a later response
/// - clock: when the request was sent, the response arrived, and now, in milliseconds after Sun, 06 Nov 1994 08:49:37
/// - expect: the result as text
#include "harness.h"
#include "vectors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEGIN_MS INT64_C(784111777000)

enum { MAX_FIELDS = 32, TEXT_BYTES = 1024, BODY_BYTES = 10 };

typedef struct message {
    nc_slice line; // before the fields
    nc_header fields[MAX_FIELDS];
    size_t count;
} message;

typedef struct fixture_row {
    message request;
    message stored_for;
    message response;
    message update;
    nc_header kept[MAX_FIELDS];
    nc_cache_request asked;
    nc_cache_response arrived;
    nc_cache_response later;
    nc_cache_stored stored;
    nc_cache_policy policy;
    int64_t now_ms;
    const char *action;
} fixture_row;

static nc_slice trim(nc_slice text) {
    while (text.length > 0 && text.data[0] == ' ') {
        text = nc_slice_make(text.data + 1, text.length - 1);
    }
    while (text.length > 0 && text.data[text.length - 1] == ' ') {
        text.length--;
    }
    return text;
}

static nc_slice take_until(nc_slice *text, char mark) {
    const uint8_t *end = text->length > 0 ? memchr(text->data, mark, text->length) : NULL;
    size_t length = end != NULL ? (size_t)(end - text->data) : text->length;
    size_t taken = end != NULL ? length + 1 : length;
    nc_slice head = nc_slice_make(text->data, length);
    *text = nc_slice_make(text->data + taken, text->length - taken);
    return head;
}

static message parse(nc_slice text, bool has_line) {
    message out = {.count = 0};
    if (has_line) {
        out.line = take_until(&text, '\n');
    }
    while (text.length > 0) {
        nc_slice line = take_until(&text, '\n');
        nc_slice name = take_until(&line, ':');
        assert_true(out.count < MAX_FIELDS);
        out.fields[out.count++] = (nc_header){name, trim(line)};
    }
    return out;
}

static int64_t number(nc_slice text) {
    char digits[32] = {0};
    assert_true(text.length < sizeof digits);
    if (text.length > 0) {
        memcpy(digits, text.data, text.length);
    }
    return strtoll(digits, NULL, 10);
}

static bool is_option(nc_slice *option, const char *name) {
    size_t length = strlen(name);
    if (option->length < length || memcmp(option->data, name, length) != 0) {
        return false;
    }
    *option = nc_slice_make(option->data + length, option->length - length);
    return true;
}

static void take_option(fixture_row *row, nc_slice option) {
    static const char *const modes[] = {"default", "reload", "cache-only", "no-store", "network-first"};
    if (is_option(&option, "mode=")) {
        for (size_t i = 0; i < 5; i++) {
            if (nc_slice_is_equal(option, nc_slice_of(modes[i]))) {
                row->policy.mode = (nc_cache_mode)i;
                return;
            }
        }
        fail_msg("unknown mode");
    } else if (is_option(&option, "swr=")) {
        row->policy.stale_while_revalidate_ms = number(option);
    } else if (is_option(&option, "sie=")) {
        row->policy.stale_if_error_ms = number(option);
    } else if (is_option(&option, "fraction=")) {
        row->policy.heuristic_fraction = (double)number(option);
    } else if (is_option(&option, "returns-redirects")) {
        row->asked.follows_redirects = false;
    } else {
        fail_msg("unknown option");
    }
}

static void read_request(fixture_row *row) {
    nc_slice line = row->request.line;
    row->asked.follows_redirects = true;
    row->asked.method = take_until(&line, ' ');
    row->asked.url = take_until(&line, ' ');
    row->asked.headers = row->request.fields;
    row->asked.header_count = row->request.count;
    while (line.length > 0) {
        take_option(row, take_until(&line, ' '));
    }
}

static void read_row(fixture_row *row, const vector_row *from) {
    nc_slice clock = vectors_text(from, "clock");
    nc_slice stored_for = vectors_text(from, "for");
    *row = (fixture_row){.policy = NC_CACHE_POLICY_INIT};
    row->request = parse(vectors_text(from, "request"), true);
    row->stored_for = parse(stored_for, false);
    row->response = parse(vectors_text(from, "response"), true);
    row->update = parse(vectors_text(from, "update"), true);
    read_request(row);
    row->arrived = (nc_cache_response){.status = (uint16_t)number(row->response.line),
                                       .headers = row->response.fields,
                                       .header_count = row->response.count,
                                       .sent_at_ms = BEGIN_MS + number(take_until(&clock, ' ')),
                                       .received_at_ms = BEGIN_MS + number(take_until(&clock, ' '))};
    row->now_ms = BEGIN_MS + number(clock);
    row->later = (nc_cache_response){
        .status = (uint16_t)number(row->update.line), .headers = row->update.fields, .header_count = row->update.count};
    row->stored = (nc_cache_stored){.status = row->arrived.status,
                                    .headers = row->kept,
                                    .body_bytes = BODY_BYTES,
                                    .freshness = nc_cache_freshness_of(&row->arrived, &row->policy),
                                    .request_headers = stored_for.data != NULL ? row->stored_for.fields : NULL,
                                    .request_header_count = row->stored_for.count};
    row->stored.header_count = nc_cache_stored_fields(row->kept, row->response.fields, row->response.count);
}

/* --- results as texts --- */

static void write_freshness(char *out, fixture_row *row) {
    const nc_cache_freshness *fresh = &row->stored.freshness;
    int length = snprintf(out, TEXT_BYTES, "lifetime=%" PRId64, fresh->lifetime_ms);
    const struct {
        bool is_shown;
        const char *name;
        int64_t value;
    } parts[] = {
        {fresh->initial_age_ms != 0, " initial=", fresh->initial_age_ms},
        {fresh->stale_while_revalidate_ms != NC_CACHE_NONE, " swr=", fresh->stale_while_revalidate_ms},
        {fresh->stale_if_error_ms != NC_CACHE_NONE, " sie=", fresh->stale_if_error_ms},
    };
    for (size_t i = 0; i < 3; i++) {
        if (parts[i].is_shown) {
            length += snprintf(out + length, TEXT_BYTES - (size_t)length, "%s%" PRId64, parts[i].name, parts[i].value);
        }
    }
    (void)snprintf(out + length, TEXT_BYTES - (size_t)length, "%s%s%s%s", fresh->no_cache ? " no-cache" : "",
                   fresh->must_revalidate ? " must-revalidate" : "", fresh->immutable ? " immutable" : "",
                   fresh->is_heuristic ? " heuristic" : "");
}

static void write_decision(char *out, const nc_cache_decision *decision) {
    static const char *const actions[] = {"use", "revalidate", "fetch", "fail", "timeout"};
    static const char *const forms[] = {"", " head", " 304"};
    const char *reason = nc_cache_reason_name(decision->reason);
    int length = snprintf(out, TEXT_BYTES, "%s %s", actions[decision->action], reason);
    if (decision->action == NC_CACHE_USE && decision->form == NC_CACHE_FORM_PART) {
        (void)snprintf(out + length, TEXT_BYTES - (size_t)length, " %" PRIu64 "-%" PRIu64, decision->first,
                       decision->last);
    } else if (decision->action == NC_CACHE_USE) {
        (void)snprintf(out + length, TEXT_BYTES - (size_t)length, "%s", forms[decision->form]);
    }
}

static void write_fields(char *out, const nc_header *fields, size_t count, bool has_values) {
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const char *mark = i == 0 ? "" : has_values ? "|" : " ";
        int used = snprintf(out + length, TEXT_BYTES - length, "%s%.*s%s%.*s", mark, (int)fields[i].name.length,
                            (const char *)fields[i].name.data, has_values ? ": " : "",
                            has_values ? (int)fields[i].value.length : 0, (const char *)fields[i].value.data);
        length += (size_t)used;
    }
}

static void write_invalidated(char *out, fixture_row *row) {
    nc_cache_invalidation found;
    nc_buf room = nc_buf_init(4096);
    nc_header urls[3];
    assert_status(nc_cache_invalidates(&found, &room, &row->asked, &row->arrived), NC_OK);
    for (size_t i = 0; i < found.count; i++) {
        urls[i] = (nc_header){found.urls[i], nc_slice_of("")};
    }
    write_fields(out, urls, found.count, false);
    for (char *at = strchr(out, ' '); at != NULL; at = strchr(at, ' ')) {
        *at = '|';
    }
    nc_buf_deinit(&room);
}

static const char *yes(bool is_true) {
    return is_true ? "yes" : "no";
}

static void write_flag(char *out, fixture_row *row, nc_slice action) {
    static const char *const storability[] = {"yes",    "request", "method",   "status", "part",
                                              "server", "vary",    "lifetime", "post"};
    const char *text = "unknown operation";
    if (nc_slice_is_equal(action, nc_slice_of("store"))) {
        text = storability[nc_cache_may_store(&row->asked, &row->arrived, &row->policy, NULL)];
    } else if (nc_slice_is_equal(action, nc_slice_of("confirm"))) {
        text = yes(nc_cache_confirms(&row->stored, &row->later));
    } else if (nc_slice_is_equal(action, nc_slice_of("confirm-own"))) {
        text = yes(nc_cache_confirms_own(&row->stored, &row->later, &row->asked));
    } else if (nc_slice_is_equal(action, nc_slice_of("same"))) {
        text = yes(nc_cache_is_same_version(&row->stored, &row->later));
    } else if (nc_slice_is_equal(action, nc_slice_of("supersede"))) {
        text = yes(nc_cache_supersedes(&row->asked, row->arrived.status));
    }
    (void)snprintf(out, TEXT_BYTES, "%s", text);
}

static void write_failure(char *out, fixture_row *row) {
    nc_cache_decision decision =
        nc_cache_decide_after_failure(&row->asked, &row->stored, &row->policy, row->now_ms, row->later.status);
    write_decision(out, &decision);
    if (decision.action != NC_CACHE_USE) {
        (void)snprintf(out, TEXT_BYTES, "fetch"); // the reason is not reported
    }
}

static void write_result(char *out, fixture_row *row, nc_slice action) {
    nc_header fields[2 * MAX_FIELDS];
    if (nc_slice_is_equal(action, nc_slice_of("freshness"))) {
        write_freshness(out, row);
    } else if (nc_slice_is_equal(action, nc_slice_of("decide"))) {
        const nc_cache_stored *stored = row->response.line.length > 0 ? &row->stored : NULL;
        nc_cache_decision decision = nc_cache_decide(&row->asked, stored, &row->policy, row->now_ms);
        write_decision(out, &decision);
    } else if (nc_slice_is_equal(action, nc_slice_of("failure"))) {
        write_failure(out, row);
    } else if (nc_slice_is_equal(action, nc_slice_of("fields"))) {
        write_fields(out, row->stored.headers, row->stored.header_count, false);
    } else if (nc_slice_is_equal(action, nc_slice_of("merge"))) {
        write_fields(out, fields, nc_cache_merge(fields, 2 * MAX_FIELDS, &row->stored, &row->later), true);
    } else if (nc_slice_is_equal(action, nc_slice_of("conditions"))) {
        write_fields(out, fields, nc_cache_conditions(fields, &row->stored), true);
    } else if (nc_slice_is_equal(action, nc_slice_of("invalidate"))) {
        write_invalidated(out, row);
    } else {
        write_flag(out, row, action);
    }
}

static void cache_rules__decide_as_the_table_requires(void **state) {
    vectors rows = vectors_read("cache_rules.json");
    size_t differing = 0;
    (void)state;
    for (size_t i = 0; i < rows.count; i++) {
        fixture_row row;
        char result[TEXT_BYTES];
        nc_slice expected = vectors_text(&rows.rows[i], "expect");
        nc_slice rule = vectors_text(&rows.rows[i], "rule");
        read_row(&row, &rows.rows[i]);
        write_result(result, &row, vectors_text(&rows.rows[i], "do"));
        if (!nc_slice_is_equal(nc_slice_of(result), expected)) {
            print_message("row %zu, %.*s: '%s' instead of '%.*s'\n", i + 1, (int)rule.length, (const char *)rule.data,
                          result, (int)expected.length, (const char *)expected.data);
            differing++;
        }
    }
    print_message("%zu rows\n", rows.count);
    assert_int_equal(differing, 0);
    assert_true(rows.count >= 150);
    vectors_free(&rows);
}

/* --- the bytes of the selecting fields --- */

static bool selects_the_same(const char *vary, const char *one, const char *other) {
    nc_buf texts[2] = {nc_buf_init(4096), nc_buf_init(4096)};
    nc_header names = {nc_slice_of("Vary"), nc_slice_of(vary)};
    const char *fields[] = {one, other};
    for (size_t i = 0; i < 2; i++) {
        message parsed = parse(nc_slice_of(fields[i]), false);
        nc_cache_request request = {.headers = parsed.fields, .header_count = parsed.count};
        assert_status(nc_cache_select(&texts[i], &request, &names, 1), NC_OK);
    }
    bool is_same = nc_slice_is_equal(nc_buf_slice(&texts[0]), nc_buf_slice(&texts[1]));
    nc_buf_deinit(&texts[0]);
    nc_buf_deinit(&texts[1]);
    return is_same;
}

static void cache_rules__select_fields_that_vary(void **state) {
    (void)state;
    assert_true(selects_the_same("Foo, Accept-Language", "foo: 1, 2\nAccept-Language: en, DE;q=0.5",
                                 "Foo: 1\nAccept-Language: de; q=0.5 ,en\nFOO: 2\nBar: x"));
    assert_false(selects_the_same("Foo", "Foo: 1, 2", "Foo: 2, 1"));
    assert_false(selects_the_same("Foo", "Foo:", "Bar: 1"));
    assert_false(selects_the_same("a, b", "a: 1", "b: 1"));
    assert_true(selects_the_same("b, A, a", "a: 1\nb: 2", "B: 2\nA: 1"));
    // A length precedes each text, so that no value can imitate another field.
    assert_false(selects_the_same("a, b", "a: 1\nb: 2", "a: 11:b1:2"));
    assert_false(selects_the_same("Accept-Language", "Accept-Language: \xc3\x84", "Accept-Language: \xc3\xa4"));
}

static void cache_rules__too_many_names_in_vary_count_as_star(void **state) {
    (void)state;
    char names[1024] = "";
    for (int i = 0; i < 65; i++) {
        (void)snprintf(names + strlen(names), sizeof names - strlen(names), "n%d,", i);
    }
    nc_buf out = nc_buf_init(4096);
    nc_header fields[] = {{nc_slice_of("Vary"), nc_slice_of(names)},
                          {nc_slice_of("Cache-Control"), nc_slice_of("max-age=9")}};
    nc_cache_request request = {.url = nc_slice_of("http://h/a")};
    nc_cache_response response = {.status = 200, .headers = fields, .header_count = 2};
    nc_cache_policy policy = NC_CACHE_POLICY_INIT;
    assert_status(nc_cache_select(&out, &request, fields, 2), NC_ERR_USAGE);
    assert_int_equal(nc_cache_may_store(&request, &response, &policy, NULL), NC_CACHE_NOT_BY_VARY);
    fields[0].value.length -= 4; // 64 names
    assert_status(nc_cache_select(&out, &request, fields, 2), NC_OK);
    assert_int_equal(nc_cache_may_store(&request, &response, &policy, NULL), NC_CACHE_STORABLE);
    nc_buf_deinit(&out);
}

static void cache_rules__long_language_lists_select_by_their_order(void **state) {
    (void)state;
    char one[1024] = "Accept-Language: ";
    char other[1024] = "Accept-Language: b, ";
    for (int i = 0; i < 70; i++) {
        (void)snprintf(one + strlen(one), sizeof one - strlen(one), "a%d,", i);
        (void)snprintf(other + strlen(other), sizeof other - strlen(other), "a%d,", i);
    }
    (void)snprintf(one + strlen(one), sizeof one - strlen(one), "b");
    assert_true(selects_the_same("Accept-Language", one, one));
    assert_false(selects_the_same("Accept-Language", one, other));
}

/* --- times at the limits of the type --- */

static uint64_t next_random(uint64_t *seed) {
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * UINT64_C(2685821657736338717);
}

static int64_t random_time(uint64_t *seed) {
    uint64_t small = next_random(seed) % 100;
    switch (next_random(seed) % 5) {
    case 0:
        return (int64_t)next_random(seed);
    case 1:
        return INT64_MAX - (int64_t)small;
    case 2:
        return INT64_MIN + (int64_t)small;
    case 3:
        return INT64_C(2147483648000) + (int64_t)small;
    default:
        return (int64_t)small - 50;
    }
}

static void cache_rules__a_changed_clock_never_makes_a_response_younger(void **state) {
    uint64_t seed = 11;
    size_t uses = 0;
    nc_cache_request request = {.url = nc_slice_of("http://h/a")};
    nc_cache_policy policy = NC_CACHE_POLICY_INIT;
    (void)state;
    for (int i = 0; i < 250000; i++) {
        int64_t now = random_time(&seed);
        int64_t near = (int64_t)((uint64_t)now - next_random(&seed) % 64 + 20);
        nc_cache_stored stored = {.status = 200};
        stored.freshness = (nc_cache_freshness){
            .received_at_ms = next_random(&seed) % 3 == 0 ? random_time(&seed) : near,
            .initial_age_ms = (int64_t)(next_random(&seed) % 8),
            .lifetime_ms = (int64_t)(next_random(&seed) % 60) - 1,
            .stale_while_revalidate_ms = NC_CACHE_NONE,
            .stale_if_error_ms = NC_CACHE_NONE,
        };
        __int128 resident = (__int128)now - stored.freshness.received_at_ms;
        __int128 age = resident + stored.freshness.initial_age_ms;
        bool is_usable = resident >= 0 && age < stored.freshness.lifetime_ms;
        nc_cache_decision decision = nc_cache_decide(&request, &stored, &policy, now);
        assert_int_equal(decision.action == NC_CACHE_USE, is_usable);
        uses += is_usable ? 1 : 0;
    }
    assert_true(uses > 20000 && uses < 230000);
}

static void cache_rules__a_storable_response_comes_with_its_freshness(void **state) {
    (void)state;
    nc_header field = {nc_slice_of("Cache-Control"), nc_slice_of("max-age=9, must-revalidate")};
    nc_cache_request request = {.url = nc_slice_of("http://h/a")};
    nc_cache_response response = {
        .status = 200, .headers = &field, .header_count = 1, .sent_at_ms = 5000, .received_at_ms = 7000};
    nc_cache_policy policy = NC_CACHE_POLICY_INIT;
    nc_cache_freshness freshness = {.lifetime_ms = 1};
    assert_int_equal(nc_cache_may_store(&request, &response, &policy, &freshness), NC_CACHE_STORABLE);
    nc_cache_freshness expected = nc_cache_freshness_of(&response, &policy);
    assert_int_equal(freshness.lifetime_ms, 9000);
    assert_int_equal(freshness.initial_age_ms, 2000);
    assert_int_equal(freshness.received_at_ms, 7000);
    assert_true(freshness.must_revalidate);
    assert_int_equal(freshness.lifetime_ms, expected.lifetime_ms);
    assert_int_equal(freshness.initial_age_ms, expected.initial_age_ms);
}

static void cache_rules__only_temporary_server_errors_are_failures(void **state) {
    (void)state;
    assert_true(nc_cache_is_failure(0)); // the network failed
    for (uint16_t status = 1; status < 1000; status++) {
        bool is_failure = status == 500 || (status >= 502 && status <= 504);
        assert_int_equal(nc_cache_is_failure(status), is_failure);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(cache_rules__decide_as_the_table_requires),
        harness_case(cache_rules__select_fields_that_vary),
        harness_case(cache_rules__too_many_names_in_vary_count_as_star),
        harness_case(cache_rules__long_language_lists_select_by_their_order),
        harness_case(cache_rules__a_storable_response_comes_with_its_freshness),
        harness_case(cache_rules__only_temporary_server_errors_are_failures),
        harness_case(cache_rules__a_changed_clock_never_makes_a_response_younger),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
