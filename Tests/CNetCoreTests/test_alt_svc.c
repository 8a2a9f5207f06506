/// The Alt-Svc cache: fields, alternative services, and the text format (RFC 7838).
#include "harness.h"

#include "http/alt_svc.h"

#include <stdio.h>
#include <string.h>

static const int64_t now_s = 1800000000; // 2027-01-15 08:00:00
enum { ANY = NC_ALT_HTTP_1_1 | NC_ALT_HTTP_2 | NC_ALT_HTTP_3 };

static nc_alt_svc_endpoint place(const char *host, uint16_t port) {
    nc_alt_svc_endpoint out;
    assert_true(nc_alt_svc_endpoint_make(&out, nc_slice_of(host), port));
    return out;
}

static bool record_field(nc_alt_svc *list, const char *host, const char *field) {
    nc_alt_svc_endpoint origin = place(host, 443);
    return nc_alt_svc_record(list, &origin, nc_slice_of(field), now_s);
}

static const nc_alternative *find(const nc_alt_svc *list, const char *host, int protocols, int64_t at_s) {
    nc_alt_svc_endpoint origin = place(host, 443);
    return nc_alt_svc_find(list, &origin, (uint8_t)protocols, at_s);
}

/// Returns the list's entries for a.example, each as "protocol host:port+seconds".
static const char *shown(const nc_alt_svc *list) {
    static char text[1024];
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < list->count && length < sizeof text; i++) {
        const nc_alternative *one = nc_alt_svc_at(list, i);
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s %s:%u+%lld%s", i > 0 ? ", " : "",
                                   one->protocol == NC_ALT_HTTP_3   ? "h3"
                                   : one->protocol == NC_ALT_HTTP_2 ? "h2"
                                                                    : "h1",
                                   one->endpoint.host, (unsigned)one->endpoint.port,
                                   (long long)(one->entry.until_s - now_s), one->is_persistent ? " for good" : "");
    }
    return text;
}

static void alt_svc__a_malformed_field_is_ignored(void **state) {
    static const struct {
        const char *field;
        const char *shown; // NULL: nothing is accepted, and known entries stay
    } rows[] = {
        {"h2=\"b.example:8443\"", "h2 b.example:8443+86400"},
        {"h2=\":8443\"", "h2 a.example:8443+86400"},
        {"h2=\"B.Example.:8443\"; ma=5", "h2 b.example:8443+5"},
        {"h2=\"b.example:1\";ma=\"5\";persist=1", "h2 b.example:1+5 for good"},
        {"h2 = \"b.example:1\" ; MA = 5 ; persist=2; future=\"a,b;c\"", "h2 b.example:1+5"},
        {"h3=\":443\"; ma=2592000, h2=\"b.example:443\"", "h3 a.example:443+2592000, h2 b.example:443+86400"},
        {"http%2F1.1=\"b.example:80\"", "h1 b.example:80+86400"},
        {"h2=\"[2001:DB8::1]:443\"", "h2 [2001:db8::1]:443+86400"},
        {",, h2=\":1\",,", "h2 a.example:1+86400"},
        {"h2=\":1\"; ma=5, h2=\"A.example:1\"; ma=6", "h2 a.example:1+5"},
        {"h2=\":443\"", ""}, // the origin itself
        {"h2=\":1\"; ma=0", ""},
        {"quic=\":443\"; v=\"46,43\", h2c=\":80\"", ""},
        {"clear", ""},
        {" clear ", ""},
        {"h2=\":1\"; ma=99999999999999999999999", "h2 a.example:1+3162240000"},
        {"Clear", NULL},
        {"", NULL},
        {",", NULL},
        {"h2", NULL},
        {"h2=", NULL},
        {"h2=:1", NULL},
        {"h2=\"\"", NULL},
        {"h2=\"b.example\"", NULL},
        {"h2=\"b.example:\"", NULL},
        {"h2=\"b.example:0\"", NULL},
        {"h2=\"b.example:65536\"", NULL},
        {"h2=\"b.example:99999999999999999999\"", NULL},
        {"h2=\"b.example:1x\"", NULL},
        {"h2=\"b example:1\"", NULL},
        {"h2=\"b/example:1\"", NULL},
        {"h2=\".b.example:1\"", NULL},
        {"h2=\"b..example:1\"", NULL},
        {"h2=\"b.example..:1\"", NULL},
        {"h2=\"user@b.example:1\"", NULL},
        {"h2=\"2001:db8::1:443", NULL},
        {"h2=\"2001:db8::1:443\"", NULL},
        {"h2=\":1\"; ma=-1", NULL},
        {"h2=\":1\"; ma", NULL},
        {"h2=\":1\", nonsense", NULL},
        {"=\":1\"", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        nc_alt_svc list = {0};
        assert_true(record_field(&list, "a.example", "h2=\"before.example:1\"; ma=7"));
        bool is_taken = record_field(&list, "a.example", rows[i].field);
        const char *expected = rows[i].shown != NULL ? rows[i].shown : "h2 before.example:1+7";
        if (is_taken != (rows[i].shown != NULL) || strcmp(shown(&list), expected) != 0) {
            fail_msg("'%s' is taken as '%s'", rows[i].field, shown(&list));
        }
        nc_alt_svc_deinit(&list);
    }
}

static void alt_svc__an_entry_applies_only_to_its_origin(void **state) {
    nc_alt_svc list = {0};
    nc_alt_svc_endpoint other_port = place("a.example", 444);
    (void)state;
    assert_true(record_field(&list, "a.example", "h2=\":1\""));
    assert_true(record_field(&list, "b.example", "h2=\":2\""));
    assert_int_equal(find(&list, "A.example.", ANY, now_s)->endpoint.port, 1);
    assert_int_equal(find(&list, "b.example", ANY, now_s)->endpoint.port, 2);
    assert_null(find(&list, "x.a.example", ANY, now_s));
    assert_null(find(&list, "example", ANY, now_s));
    assert_null(nc_alt_svc_find(&list, &other_port, ANY, now_s));
    assert_true(record_field(&list, "a.example", "clear"));
    assert_null(find(&list, "a.example", ANY, now_s));
    assert_non_null(find(&list, "b.example", ANY, now_s));
    nc_alt_svc_deinit(&list);
}

static void alt_svc__the_first_unexpired_service_with_a_wanted_protocol_is_found(void **state) {
    nc_alt_svc list = {0};
    (void)state;
    assert_true(record_field(&list, "a.example", "h3=\":3\"; ma=9, h2=\":2\"; ma=5, http/1.1=\":1\"; ma=9"));
    assert_int_equal(find(&list, "a.example", ANY, now_s)->endpoint.port, 3);
    assert_int_equal(find(&list, "a.example", NC_ALT_HTTP_2 | NC_ALT_HTTP_1_1, now_s)->endpoint.port, 2);
    assert_int_equal(find(&list, "a.example", NC_ALT_HTTP_2 | NC_ALT_HTTP_1_1, now_s + 5)->endpoint.port, 1);
    assert_null(find(&list, "a.example", NC_ALT_HTTP_2, now_s + 5));
    assert_null(find(&list, "a.example", 0, now_s));
    assert_null(find(&list, "a.example", ANY, now_s + 9));
    nc_alt_svc_deinit(&list);
}

static void alt_svc__a_failed_service_is_skipped_for_a_while_even_if_announced_again(void **state) {
    nc_alt_svc list = {0};
    (void)state;
    assert_true(record_field(&list, "a.example", "h2=\":1\", h2=\":2\""));
    nc_alternative failed = *find(&list, "a.example", ANY, now_s);
    nc_alt_svc_avoid(&list, &failed, now_s);
    assert_int_equal(find(&list, "a.example", ANY, now_s)->endpoint.port, 2);
    assert_true(record_field(&list, "a.example", "h2=\":1\", h2=\":3\""));
    assert_int_equal(find(&list, "a.example", ANY, now_s)->endpoint.port, 3);
    assert_int_equal(find(&list, "a.example", ANY, now_s + NC_ALT_SVC_AVOIDED_S)->endpoint.port, 1);
    assert_int_equal(find(&list, "a.example", ANY, now_s - 1)->endpoint.port, 1); // the clock was set back
    nc_alt_svc_deinit(&list);
}

static void alt_svc__a_repeated_field_changes_nothing(void **state) {
    nc_alt_svc list = {0};
    nc_alt_svc_endpoint origin = place("a.example", 443);
    nc_slice field = nc_slice_of("h2=\":1\", h2=\":2\"");
    (void)state;
    assert_true(nc_alt_svc_record(&list, &origin, field, now_s));
    for (int i = 1; i < 60; i++) {
        assert_false(nc_alt_svc_record(&list, &origin, field, now_s + i));
    }
    assert_true(nc_alt_svc_record(&list, &origin, field, now_s + 60)); // recorded again after a minute
    assert_int_equal(list.entries[0]->until_s, now_s + 60 + 86400);
    assert_true(nc_alt_svc_record(&list, &origin, field, now_s + 3600));
    assert_true(nc_alt_svc_record(&list, &origin, nc_slice_of("h2=\":2\", h2=\":1\""), now_s + 3600));
    assert_true(nc_alt_svc_record(&list, &origin, nc_slice_of("h2=\":2\""), now_s + 3600));
    assert_true(nc_alt_svc_record(&list, &origin, nc_slice_of("clear"), now_s + 3600));
    assert_false(nc_alt_svc_record(&list, &origin, nc_slice_of("clear"), now_s + 3600));
    nc_alt_svc_deinit(&list);
}

static void alt_svc__the_cache_never_exceeds_its_limits(void **state) {
    nc_alt_svc list = {0};
    char host[32];
    char field[600] = "";
    (void)state;
    for (int i = 1; i <= 20; i++) {
        (void)snprintf(field + strlen(field), sizeof field - strlen(field), "%sh2=\":%d\"", i > 1 ? ", " : "", i);
    }
    assert_true(record_field(&list, "a.example", field));
    assert_int_equal(list.count, NC_ALT_SVC_MAX_EACH);
    for (int i = 0; i < NC_ALT_SVC_MAX_PER_SITE + 50; i++) {
        (void)snprintf(host, sizeof host, "host-%d.example.com", i);
        (void)snprintf(field, sizeof field, "h2=\":1\"; ma=%d", 100 + i);
        assert_true(record_field(&list, host, field));
    }
    assert_int_equal(list.count, NC_ALT_SVC_MAX_EACH + NC_ALT_SVC_MAX_PER_SITE);
    assert_null(find(&list, "host-49.example.com", ANY, now_s)); // it would have expired first
    assert_non_null(find(&list, "host-50.example.com", ANY, now_s));
    assert_non_null(find(&list, "a.example", ANY, now_s));
    nc_alt_svc_deinit(&list);
}

static void alt_svc__many_origins_of_one_site_do_not_evict_other_sites(void **state) {
    nc_alt_svc list = {0};
    char host[32];
    (void)state;
    assert_true(record_field(&list, "bank.test", "h2=\":1\"; ma=1"));
    for (int i = 0; i < NC_ALT_SVC_MAX_TOTAL + 50; i++) {
        (void)snprintf(host, sizeof host, "host-%d.example", i);
        assert_int_equal(record_field(&list, host, "h2=\":1\""), i < NC_ALT_SVC_MAX_TOTAL - 1);
    }
    assert_int_equal(list.count, NC_ALT_SVC_MAX_TOTAL);
    assert_non_null(find(&list, "bank.test", ANY, now_s));
    assert_true(record_field(&list, "host-0.example", "h2=\":1\", h2=\":2\"")); // replaces its own entry
    assert_non_null(find(&list, "bank.test", ANY, now_s));
    assert_int_equal(list.count, NC_ALT_SVC_MAX_TOTAL);
    nc_alt_svc_deinit(&list);
}

static void alt_svc__the_text_format_is_libcurls_and_round_trips(void **state) {
    nc_alt_svc list = {0};
    nc_alt_svc again = {0};
    nc_buf text = nc_buf_init(1 << 16);
    nc_buf twice = nc_buf_init(1 << 16);
    size_t line = 0;
    (void)state;
    assert_true(record_field(&list, "a.example",
                             "h3=\":443\"; ma=60, h2=\"b.example:8443\"; persist=1, http/1.1=\"[::1]:80\""));
    assert_true(record_field(&list, "[2001:db8::1]", "h2=\":1\""));
    nc_alt_svc_write(&list, &text, now_s);
    nc_buf_append_byte(&text, 0);
    assert_status(nc_buf_status(&text), NC_OK);
    const char *body = strstr((const char *)text.data, "h2 a.example");
    assert_string_equal(body, "h2 a.example 443 h3 a.example 443 \"20270115 08:01:00\" 0 0\n"
                              "h2 a.example 443 h2 b.example 8443 \"20270116 08:00:00\" 1 0\n"
                              "h2 a.example 443 h1 [::1] 80 \"20270116 08:00:00\" 0 0\n");
    assert_non_null(
        strstr((const char *)text.data,
               "h2 [2001:db8::1] 443 h2 [2001:db8::1] 1 \"20270116 08:00:00\" 0 0\nh2 a.example")); // sorted by origin
    text.length--;
    assert_status(nc_alt_svc_read(&again, nc_buf_slice(&text), now_s, &line), NC_OK);
    assert_status(nc_alt_svc_read(&again, nc_buf_slice(&text), now_s, &line),
                  NC_OK); // known entries are not duplicated
    nc_alt_svc_write(&again, &twice, now_s);
    assert_true(nc_slice_is_equal(nc_buf_slice(&text), nc_buf_slice(&twice)));
    nc_buf_reset(&twice);
    nc_alt_svc_write(&again, &twice, now_s + 60); // expired entries are omitted
    assert_int_equal(twice.length,
                     text.length - strlen("h2 a.example 443 h3 a.example 443 \"20270115 08:01:00\" 0 0\n"));
    nc_buf_deinit(&text);
    nc_buf_deinit(&twice);
    nc_alt_svc_deinit(&list);
    nc_alt_svc_deinit(&again);
}

static void alt_svc__an_invalid_line_is_reported_by_its_number(void **state) {
    static const char good[] = "# comment\n\nh1 a.example 443 h2 2001:db8::1 8443 \"20280101 00:00:00\" 0 0\r\n";
    static const char *const bad[] = {
        "nonsense",
        "h2 a.example 443 h2 b.example 8443",
        "h2 a.example 443 h2 b.example 8443 20280101 00:00:00 0 0",
        "h2 a.example 443 h2 b.example 8443 \"20281301 00:00:00\" 0 0",
        "h2 a.example 0 h2 b.example 8443 \"20280101 00:00:00\" 0 0",
        "h2 a.example 443 h9 b.example 8443 \"20280101 00:00:00\" 0 0",
        "h2 a/example 443 h2 b.example 8443 \"20280101 00:00:00\" 0 0",
        "h2 a.example 443 h2 b.example 70000 \"20280101 00:00:00\" 0 0",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        nc_alt_svc list = {0};
        size_t line = 0;
        char text[300];
        (void)snprintf(text, sizeof text, "%s%s\n", good, bad[i]);
        assert_status(nc_alt_svc_read(&list, nc_slice_of(text), now_s, &line), NC_ERR_FILE);
        assert_int_equal(line, 4);
        assert_int_equal(list.count, 1);
        assert_string_equal(nc_alt_svc_at(&list, 0)->endpoint.host, "[2001:db8::1]");
        nc_alt_svc_deinit(&list);
    }
}

static void alt_svc__repeated_announcements_extend_a_short_lifetime(void **state) {
    nc_alt_svc list = {0};
    nc_alt_svc_endpoint origin = place("a.example", 443);
    (void)state;
    for (int64_t at_s = now_s; at_s < now_s + 120; at_s += 10) {
        (void)nc_alt_svc_record(&list, &origin, nc_slice_of("h2=\":8443\"; ma=30"), at_s);
        assert_non_null(find(&list, "a.example", ANY, at_s + 9));
    }
    nc_alt_svc_deinit(&list);
}

static void fill_and_write(void *ctx) {
    nc_alt_svc list = {0};
    nc_alt_svc again = {0};
    nc_buf text = nc_buf_init(1 << 16);
    size_t line = 0;
    (void)ctx;
    for (int i = 0; i < 20; i++) {
        char host[32];
        (void)snprintf(host, sizeof host, "host-%d.example", i);
        (void)record_field(&list, host, "h2=\":1\", h3=\":2\"");
    }
    nc_alt_svc_write(&list, &text, now_s);
    nc_status status = nc_alt_svc_read(&again, nc_buf_slice(&text), now_s, &line);
    assert_true(status == NC_OK || (status == NC_ERR_NO_MEMORY && harness_has_failed_allocation()));
    assert_true(harness_has_failed_allocation() || again.count == 40);
    nc_buf_deinit(&text);
    nc_alt_svc_deinit(&list);
    nc_alt_svc_deinit(&again);
}

static void alt_svc__survives_each_allocation_failure(void **state) {
    (void)state;
    assert_true(each_allocation_failure(fill_and_write, NULL) > 20);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(alt_svc__a_malformed_field_is_ignored),
        harness_case(alt_svc__an_entry_applies_only_to_its_origin),
        harness_case(alt_svc__the_first_unexpired_service_with_a_wanted_protocol_is_found),
        harness_case(alt_svc__a_failed_service_is_skipped_for_a_while_even_if_announced_again),
        harness_case(alt_svc__a_repeated_field_changes_nothing),
        harness_case(alt_svc__repeated_announcements_extend_a_short_lifetime),
        harness_case(alt_svc__the_cache_never_exceeds_its_limits),
        harness_case(alt_svc__many_origins_of_one_site_do_not_evict_other_sites),
        harness_case(alt_svc__the_text_format_is_libcurls_and_round_trips),
        harness_case(alt_svc__an_invalid_line_is_reported_by_its_number),
        harness_case(alt_svc__survives_each_allocation_failure),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
