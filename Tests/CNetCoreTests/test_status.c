#include "harness.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

#define COUNT_ONE(name, number, sentence) +1
#define ROW(name, number, sentence) {name, number, #name, sentence},

static const struct {
    nc_status status;
    int number;
    const char *name;
    const char *sentence;
} rows[] = {NC_STATUS_MAP(ROW)};

#define ROW_COUNT (sizeof rows / sizeof rows[0])

static void status__has_a_name_and_a_sentence_for_each_value(void **state) {
    (void)state;
    assert_int_equal(ROW_COUNT, 0 NC_STATUS_MAP(COUNT_ONE));
    for (size_t i = 0; i < ROW_COUNT; i++) {
        assert_int_equal((int)rows[i].status, rows[i].number);
        assert_string_equal(nc_status_name(rows[i].status), rows[i].name);
        assert_string_equal(nc_status_text(rows[i].status), rows[i].sentence);
    }
}

static void status__numbers_and_sentences_are_unique(void **state) {
    (void)state;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        for (size_t k = i + 1; k < ROW_COUNT; k++) {
            assert_int_not_equal(rows[i].number, rows[k].number);
            assert_string_not_equal(rows[i].sentence, rows[k].sentence);
        }
    }
}

static void status__an_unknown_number_is_an_internal_error(void **state) {
    (void)state;
    static const int unknown[] = {-1, 18, 19, 39, 99, 149, 198, 200, 1000000};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        assert_string_equal(nc_status_name((nc_status)unknown[i]), "NC_ERR_INTERNAL");
        assert_string_equal(nc_status_text((nc_status)unknown[i]), nc_status_text(NC_ERR_INTERNAL));
        assert_false(nc_status_is_retryable((nc_status)unknown[i]));
    }
}

static void status__is_retryable_only_for_transient_errors(void **state) {
    (void)state;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        bool is_network = rows[i].number >= 100 && rows[i].number <= 149;
        assert_int_equal(nc_status_is_retryable(rows[i].status), is_network);
    }
}

static void version__matches_the_headers(void **state) {
    (void)state;
    char expected[32];
    snprintf(expected, sizeof expected, "%d.%d.%d", NC_VERSION_MAJOR, NC_VERSION_MINOR, NC_VERSION_PATCH);
    assert_string_equal(nc_version(), expected);
}

static void error__returns_the_status_without_storage(void **state) {
    (void)state;
    assert_status(nc_error_set(NULL, NC_ERR_RESET, 104, -1, "anything"), NC_ERR_RESET);
    assert_status(nc_error_clear(NULL), NC_OK);
}

static void error__is_filled_and_cleared(void **state) {
    (void)state;
    nc_error err;
    assert_status(nc_error_set(&err, NC_ERR_FILE, 2, 17, "'%s' is missing", "a"), NC_ERR_FILE);
    assert_status(err.status, NC_ERR_FILE);
    assert_int_equal(err.native_code, 2);
    assert_int_equal(err.offset, 17);
    assert_string_equal(err.message, "'a' is missing");
    assert_status(nc_error_clear(&err), NC_OK);
    assert_status(err.status, NC_OK);
    assert_int_equal(err.native_code, 0);
    assert_int_equal(err.offset, -1);
    assert_string_equal(err.message, "");
}

static void error__may_quote_its_own_old_message(void **state) {
    (void)state;
    nc_error err;
    (void)nc_error_set(&err, NC_ERR_FILE, 0, -1, "disk");
    (void)nc_error_set(&err, NC_ERR_TLS_ROOTS, 0, -1, "roots: %s", err.message);
    assert_string_equal(err.message, "roots: disk");
}

/// Replaces the middle of a message that is too long.
static const char gap[] = " ... ";

static void error__a_long_message_preserves_what_failed_and_why(void **state) {
    (void)state;
    char path[4000];
    memset(path, 'p', sizeof path);
    for (size_t length = 1; length < sizeof path; length += length < 300 ? 1 : 97) {
        nc_error err;
        char whole[sizeof path + 64];
        (void)snprintf(whole, sizeof whole, "'%.*s' cannot be read: No such file", (int)length, path);
        (void)nc_error_set(&err, NC_ERR_FILE, 2, -1, "%s", whole);
        if (strlen(whole) < NC_ERROR_MESSAGE_BYTES) {
            assert_string_equal(err.message, whole);
            continue;
        }
        assert_int_equal(strlen(err.message), NC_ERROR_MESSAGE_BYTES - 1);
        assert_memory_equal(err.message, "'ppp", 4);
        assert_non_null(strstr(err.message, gap));
        assert_non_null(strstr(err.message, "ppp' cannot be read: No such file"));
    }
}

static void error__is_never_truncated_inside_a_character(void **state) {
    (void)state;
    static const char *const characters[] = {"x", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x8E\x89"};
    for (size_t kind = 0; kind < 4; kind++) {
        size_t width = strlen(characters[kind]);
        for (size_t lead = 0; lead < 4; lead++) {
            char text[2048];
            memset(text, 'a', lead);
            size_t length = lead;
            for (; length + width < 1000; length += width) {
                memcpy(text + length, characters[kind], width);
            }
            text[length] = '\0';
            nc_error err;
            (void)nc_error_set(&err, NC_ERR_USAGE, 0, -1, "%s", text);
            size_t length_in_message = strlen(err.message);
            assert_true(length_in_message < NC_ERROR_MESSAGE_BYTES &&
                        length_in_message + 2 * width > NC_ERROR_MESSAGE_BYTES);
            size_t head = (size_t)(strstr(err.message, gap) - err.message);
            size_t tail = length_in_message - head - strlen(gap);
            assert_int_equal((head - lead) % width, 0);
            assert_int_equal(tail % width, 0);
            assert_memory_equal(err.message, text, head);
            assert_memory_equal(err.message + length_in_message - tail, text + length - tail, tail);
        }
    }
}

static void error__replaces_every_control_character(void **state) {
    (void)state;
    for (int c = 1; c < 256; c++) {
        nc_error err;
        (void)nc_error_set(&err, NC_ERR_USAGE, 0, -1, "<%c>", c);
        bool is_shown = c >= 0x20 && c < 0x7F;
        char expected[] = {'<', is_shown ? (char)c : '?', '>', '\0'};
        assert_string_equal(err.message, expected);
    }
    nc_error err;
    (void)nc_error_set(&err, NC_ERR_USAGE, 0, -1,
                       "a\xC2\x9B"
                       "b\xC2\xA0");
    assert_string_equal(err.message, "a?b\xC2\xA0");
}

static void trace__names_each_point(void **state) {
    (void)state;
    assert_string_equal(nc_trace_name(NC_TRACE_SUBMITTED), "NC_TRACE_SUBMITTED");
    assert_string_equal(nc_trace_name((nc_trace_point)9999), "NC_TRACE_COUNT");
    for (int i = 0; i < NC_TRACE_COUNT; i++) {
        assert_string_not_equal(nc_trace_name((nc_trace_point)i), "NC_TRACE_COUNT");
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(status__has_a_name_and_a_sentence_for_each_value),
        harness_case(status__numbers_and_sentences_are_unique),
        harness_case(status__an_unknown_number_is_an_internal_error),
        harness_case(status__is_retryable_only_for_transient_errors),
        harness_case(version__matches_the_headers),
        harness_case(error__returns_the_status_without_storage),
        harness_case(error__is_filled_and_cleared),
        harness_case(error__may_quote_its_own_old_message),
        harness_case(error__a_long_message_preserves_what_failed_and_why),
        harness_case(error__is_never_truncated_inside_a_character),
        harness_case(error__replaces_every_control_character),
        harness_case(trace__names_each_point),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
