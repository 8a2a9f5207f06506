/// The list of hosts that require https: names, fields, and the text format (RFC 6797).
#include "harness.h"

#include "http/hsts.h"

#include <stdio.h>
#include <string.h>

static const int64_t now_s = 1800000000; // 2027-01-15 08:00:00

static bool record_field(nc_hsts *list, const char *host, const char *field) {
    return nc_hsts_record(list, nc_slice_of(host), nc_slice_of(field), now_s);
}

static bool covers(const nc_hsts *list, const char *host) {
    return nc_hsts_covers(list, nc_slice_of(host), now_s);
}

static void hsts__a_malformed_field_is_ignored(void **state) {
    static const struct {
        const char *field;
        bool is_taken;
        bool is_below;
    } rows[] = {
        {"max-age=1", true, false},
        {"MAX-AGE=31536000", true, false},
        {"max-age=\"1000\"", true, false},
        {" max-age = 5 ; includeSubDomains ", true, true},
        {"includesubdomains;max-age=5", true, true},
        {"max-age=5; preload; future=\"a;b\"; includeSubDomains", true, true},
        {"max-age=5;;", true, false},
        {"max-age=99999999999999999999999999", true, false},
        {"max-age=0", false, false},
        {"max-age", false, false},
        {"max-age=", false, false},
        {"max-age=\"\"", false, false},
        {"max-age=-1", false, false},
        {"max-age=1x", false, false},
        {"max-age=1 2", false, false},
        {"max-age=1; max-age=1", false, false},
        {"max-age=1; includeSubDomains; includeSubDomains", false, false},
        {"max-age=1; includeSubDomains=1", false, false},
        {"includeSubDomains", false, false},
        {"future=\"max-age=5\"", false, false},
        {"", false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        nc_hsts list = {0};
        if (record_field(&list, "a.example", rows[i].field) != rows[i].is_taken ||
            covers(&list, "a.example") != rows[i].is_taken || covers(&list, "b.a.example") != rows[i].is_below) {
            fail_msg("'%s' is taken otherwise than it should", rows[i].field);
        }
        nc_hsts_deinit(&list);
    }
}

static void hsts__names_match_completely_and_in_any_spelling(void **state) {
    nc_hsts list = {0};
    (void)state;
    assert_true(record_field(&list, "A.Ex%61mple", "max-age=9; includeSubDomains"));
    assert_true(covers(&list, "a.example"));
    assert_true(covers(&list, "a.EXAMPLE."));
    assert_true(covers(&list, "x.y.a.EXAMPLE."));
    assert_false(covers(&list, "ba.example"));
    assert_false(covers(&list, "example"));
    assert_false(covers(&list, "a.example.org"));
    assert_false(covers(&list, ""));
    assert_false(covers(&list, "."));
    assert_false(covers(&list, ":80"));
    nc_hsts_deinit(&list);
}

static void hsts__addresses_and_invalid_names_are_never_stored(void **state) {
    static const char *const hosts[] = {"127.0.0.1", "127.1",        "2130706433", "0x7f.1",     "0x7F000001",
                                        "::1",       "[::1]",        "[::1]:1",    "",           ":1",
                                        "a b",       "a%20.example", ".example",   "a..example", "a.example.."};
    char longest[300];
    nc_hsts list = {0};
    (void)state;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        assert_false(record_field(&list, hosts[i], "max-age=9"));
    }
    memset(longest, 'a', sizeof longest - 1);
    longest[254] = '\0';
    assert_false(record_field(&list, longest, "max-age=9"));
    longest[253] = '\0';
    assert_true(record_field(&list, longest, "max-age=9"));
    assert_true(record_field(&list, "127.0.0.1.example", "max-age=9"));
    assert_int_equal(list.count, 2);
    nc_hsts_deinit(&list);
}

static void hsts__expired_entries_are_ignored_and_max_age_0_removes_one(void **state) {
    nc_hsts list = {0};
    (void)state;
    assert_true(record_field(&list, "a.example", "max-age=10"));
    assert_false(record_field(&list, "a.example", "max-age=10")); // nothing new
    assert_true(nc_hsts_covers(&list, nc_slice_of("a.example"), now_s + 9));
    assert_false(nc_hsts_covers(&list, nc_slice_of("a.example"), now_s + 10));
    assert_true(record_field(&list, "a.example", "max-age=0; includeSubDomains"));
    assert_false(covers(&list, "a.example"));
    assert_false(record_field(&list, "a.example", "max-age=0"));
    nc_hsts_deinit(&list);
}

/// Each response repeats the field. Without this rule each would write the file.
static void hsts__a_slightly_later_expiry_is_no_change(void **state) {
    nc_hsts list = {0};
    nc_slice host = nc_slice_of("a.example");
    nc_slice year = nc_slice_of("max-age=31536000");
    (void)state;
    assert_true(nc_hsts_record(&list, host, year, now_s));
    for (int64_t moved_s = 0; moved_s < 3600; moved_s += 60) {
        assert_false(nc_hsts_record(&list, host, year, now_s + moved_s));
    }
    assert_true(nc_hsts_record(&list, host, year, now_s + 3600));
    assert_true(nc_hsts_covers(&list, host, now_s + 3599 + 31536000));
    // For a short lifetime a small difference matters. An earlier end is always accepted.
    assert_true(nc_hsts_record(&list, host, nc_slice_of("max-age=100"), now_s + 3600));
    assert_false(nc_hsts_covers(&list, host, now_s + 3700));
    assert_false(nc_hsts_record(&list, host, nc_slice_of("max-age=100"), now_s + 3601));
    assert_true(nc_hsts_record(&list, host, nc_slice_of("max-age=100"), now_s + 3602));
    assert_true(nc_hsts_record(&list, host, nc_slice_of("max-age=100; includeSubDomains"), now_s + 3602));
    nc_hsts_deinit(&list);
}

static void record_many(nc_hsts *list, const char *form, int from, int count) {
    for (int i = from; i < from + count; i++) {
        char name[64];
        char field[32];
        (void)snprintf(name, sizeof name, form, i);
        (void)snprintf(field, sizeof field, "max-age=%d", 1000 + i);
        (void)record_field(list, name, field);
    }
}

static void hsts__a_full_site_evicts_its_entry_that_expires_first(void **state) {
    nc_hsts list = {0};
    (void)state;
    assert_true(record_field(&list, "bank.example.org", "max-age=1"));
    record_many(&list, "h%d.example.com", 0, NC_HSTS_MAX_PER_SITE + 10);
    assert_int_equal(list.count, NC_HSTS_MAX_PER_SITE + 1);
    assert_false(covers(&list, "h9.example.com"));
    assert_true(covers(&list, "h10.example.com"));
    assert_true(covers(&list, "h209.example.com"));
    assert_true(covers(&list, "bank.example.org"));
    assert_true(record_field(&list, "h10.example.com", "max-age=0"));
    assert_true(record_field(&list, "new.example.com", "max-age=1"));
    assert_true(covers(&list, "h11.example.com"));
    nc_hsts_deinit(&list);
}

static void hsts__a_full_list_evicts_from_the_site_with_most_entries(void **state) {
    nc_hsts list = {0};
    (void)state;
    record_many(&list, "h%d.example.com", 0, 150);
    record_many(&list, "s%d.test", 0, NC_HSTS_MAX_HOSTS - 150);
    assert_int_equal(list.count, NC_HSTS_MAX_HOSTS);
    assert_true(record_field(&list, "bank.example.org", "max-age=1"));
    assert_int_equal(list.count, NC_HSTS_MAX_HOSTS);
    assert_false(covers(&list, "h0.example.com"));
    assert_true(covers(&list, "s0.test"));
    // The site with the most entries loses one of its own.
    assert_true(record_field(&list, "last.example.com", "max-age=9"));
    assert_true(covers(&list, "bank.example.org"));
    assert_false(covers(&list, "h1.example.com"));
    // Expired entries are evicted first.
    assert_true(nc_hsts_record(&list, nc_slice_of("z.test"), nc_slice_of("max-age=9"), now_s + 1));
    assert_false(covers(&list, "bank.example.org"));
    assert_true(covers(&list, "h2.example.com"));
    nc_hsts_deinit(&list);
}

/// Each name below an unregistered suffix is a site.
static void hsts__many_names_do_not_evict_another_site(void **state) {
    nc_hsts list = {0};
    (void)state;
    assert_true(record_field(&list, "localhost", "max-age=1"));
    record_many(&list, "h%d.localhost", 0, NC_HSTS_MAX_HOSTS + 60);
    record_many(&list, "user%d.github.io", 0, 60);
    assert_int_equal(list.count, NC_HSTS_MAX_HOSTS);
    assert_true(covers(&list, "localhost"));
    assert_true(covers(&list, "h0.localhost"));
    assert_false(record_field(&list, "user1.github.io", "max-age=9999999"));
    nc_hsts_deinit(&list);
}

static void hsts__a_file_is_read_within_the_same_limits(void **state) {
    nc_hsts list = {0};
    nc_buf text = nc_buf_init(1 << 20);
    size_t line = 0;
    (void)state;
    nc_buf_append(&text, nc_slice_of("bank.example.org \"unlimited\"\n"));
    for (int i = 0; i < 2 * NC_HSTS_MAX_HOSTS; i++) {
        char one[64];
        int length = snprintf(one, sizeof one, "h%d.example.com \"20400101 00:00:00\"\n", i);
        nc_buf_append(&text, nc_slice_make(one, (size_t)length));
    }
    assert_status(nc_hsts_read(&list, nc_buf_slice(&text), now_s, &line), NC_OK);
    assert_int_equal(list.count, NC_HSTS_MAX_PER_SITE + 1);
    assert_true(covers(&list, "bank.example.org"));
    nc_buf_deinit(&text);
    nc_hsts_deinit(&list);
}

static void hsts__an_upgrade_changes_only_the_scheme_and_port_80(void **state) {
    static const char *const rows[][2] = {
        {"http://a.example", "https://a.example"},
        {"HTTP://a.example:80/x?y:80#z", "https://a.example/x?y:80#z"},
        {"http://a.example:8080/:80", "https://a.example:8080/:80"},
        {"http://u:80@a.example/", "https://u:80@a.example/"},
        {"http://a.example:80", "https://a.example"},
        {"http://a.example:0080/", "https://a.example/"},
        {"http://a.example:180/", "https://a.example:180/"},
        {"http://a.example80/", "https://a.example80/"},
        {"http://a.example?q", "https://a.example?q"},
        {"http://[::1]:80/", "https://[::1]/"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        nc_buf url = nc_buf_init(100);
        nc_hsts_upgrade(&url, nc_slice_of(rows[i][0]));
        assert_slice_equals(nc_buf_slice(&url), rows[i][1]);
        nc_buf_deinit(&url);
    }
}

static bool holds(const nc_buf *text, const char *piece) {
    return memmem(text->data, text->length, piece, strlen(piece)) != NULL;
}

static void hsts__the_text_format_round_trips(void **state) {
    nc_hsts list = {0};
    nc_hsts again = {0};
    nc_buf text = nc_buf_init(4096);
    nc_buf second = nc_buf_init(4096);
    size_t line = 0;
    (void)state;
    assert_true(record_field(&list, "b.example", "max-age=86400; includeSubDomains"));
    assert_true(record_field(&list, "a.example", "max-age=3600"));
    assert_int_equal(nc_hsts_read(&list, nc_slice_of(".c.example \"unlimited\""), now_s, &line), NC_OK);
    assert_true(nc_hsts_record(&list, nc_slice_of("gone.example"), nc_slice_of("max-age=1"), now_s - 1));
    nc_hsts_write(&list, &text, now_s);
    assert_true(holds(&text, "\na.example \"20270115 09:00:00\"\n"));
    assert_true(holds(&text, "\n.b.example \"20270116 08:00:00\"\n"));
    assert_true(holds(&text, "\n.c.example \"unlimited\"\n"));
    assert_false(holds(&text, "gone"));
    assert_int_equal(nc_hsts_read(&again, nc_buf_slice(&text), now_s, &line), NC_OK);
    nc_hsts_write(&again, &second, now_s);
    assert_true(nc_slice_is_equal(nc_buf_slice(&text), nc_buf_slice(&second)));
    assert_true(covers(&again, "x.b.example"));
    assert_true(covers(&again, "x.c.example"));
    assert_false(covers(&again, "x.a.example"));
    nc_buf_deinit(&text);
    nc_buf_deinit(&second);
    nc_hsts_deinit(&list);
    nc_hsts_deinit(&again);
}

static void hsts__an_invalid_line_is_reported_by_its_number(void **state) {
    static const char *const lines[] = {
        "a.example",
        "a.example 20270115 09:00:00",
        "a.example \"\"",
        "a.example \"20270115\"",
        "a.example \"20271315 09:00:00\"",
        "a.example \"20270100 09:00:00\"",
        "a.example \"99991231 23:59:60\"",
        "a.example \"20270115 24:00:00\"",
        "a.example \"20270115 09:60:00\"",
        "a.example \"2027x115 09:00:00\"",
        "a.example \"20270115T09:00:00\"",
        "a.example \"forever\"",
        "127.0.0.1 \"unlimited\"",
        "a.example:80 \"unlimited\"",
        ". \"unlimited\"",
        "\"unlimited\"",
        "\177ELF",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        nc_hsts list = {0};
        char text[200];
        size_t line = 0;
        (void)snprintf(text, sizeof text, "# a comment\n\n%s\nb.example \"unlimited\"\n", lines[i]);
        nc_status status = nc_hsts_read(&list, nc_slice_of(text), now_s, &line);
        if (status != NC_ERR_FILE || line != 3) {
            fail_msg("'%s' is %s at line %zu", lines[i], nc_status_name(status), line);
        }
        nc_hsts_deinit(&list);
    }
}

static void take_everything(void *ctx) {
    nc_hsts list = {0};
    size_t line = 0;
    (void)ctx;
    (void)record_field(&list, "b.example", "max-age=9");
    nc_status status =
        nc_hsts_read(&list, nc_slice_of("a.example \"unlimited\"\n.c.example \"unlimited\""), now_s, &line);
    assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
    assert_int_equal(covers(&list, "c.example"), status == NC_OK);
    nc_hsts_deinit(&list);
}

static void hsts__an_allocation_failure_loses_no_entry(void **state) {
    (void)state;
    each_allocation_failure(take_everything, NULL);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(hsts__a_malformed_field_is_ignored),
        harness_case(hsts__names_match_completely_and_in_any_spelling),
        harness_case(hsts__addresses_and_invalid_names_are_never_stored),
        harness_case(hsts__expired_entries_are_ignored_and_max_age_0_removes_one),
        harness_case(hsts__a_slightly_later_expiry_is_no_change),
        harness_case(hsts__a_full_site_evicts_its_entry_that_expires_first),
        harness_case(hsts__a_full_list_evicts_from_the_site_with_most_entries),
        harness_case(hsts__many_names_do_not_evict_another_site),
        harness_case(hsts__a_file_is_read_within_the_same_limits),
        harness_case(hsts__an_upgrade_changes_only_the_scheme_and_port_80),
        harness_case(hsts__the_text_format_round_trips),
        harness_case(hsts__an_invalid_line_is_reported_by_its_number),
        harness_case(hsts__an_allocation_failure_loses_no_entry),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
