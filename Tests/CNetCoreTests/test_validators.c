/// Validators that prove that two responses have the same bytes (RFC 9110, 8.8).
#include "harness.h"

#include <netcore/content_range.h>

static void validators__are_strong_by_their_tag_or_by_an_old_date(void **state) {
    static const char now[] = "Tue, 15 Nov 1994 12:46:00 GMT";
    static const char minute_before[] = "Tue, 15 Nov 1994 12:45:00 GMT";
    static const char just_before[] = "Tue, 15 Nov 1994 12:45:01 GMT";
    static const struct {
        const char *etag;
        const char *modified;
        const char *date;
        bool is_strong;
    } cases[] = {
        {"\"a\"", "", "", true},        {"\"\"", "", "", true},
        {"W/\"a\"", "", "", false},     {"W/\"a\"", minute_before, now, false}, // the tag decides
        {"\"a", "", "", false},         {"\"", minute_before, now, false},
        {"a", "", "", false},           {"", minute_before, now, true},
        {"", just_before, now, false},  {"", now, minute_before, false},
        {"", minute_before, "", false}, {"", "", now, false},
        {"", "yesterday", now, false},  {"", "", "", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        guarded etag = guarded_copy(nc_slice_of(cases[i].etag));
        if (nc_validators_are_strong(etag.slice, nc_slice_of(cases[i].modified), nc_slice_of(cases[i].date)) !=
            cases[i].is_strong) {
            fail_msg("case %zu", i);
        }
        guarded_deinit(&etag);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        harness_case(validators__are_strong_by_their_tag_or_by_an_old_date),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
