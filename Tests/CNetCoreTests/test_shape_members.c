/// Random objects against random shapes. The results are equal for a text fed byte by byte, with one token at a time,
/// and for the whole text, with members and objects of an array processed together.
#include "harness.h"
#include "torture.h"

#include <stdio.h>
#include <string.h>

enum { MAX_MISMATCHES = 30 };

/// Names of each length that the comparison of names handles differently. Some need escapes.
static const char *const names[] = {
    "",
    "a",
    "b",
    "id",
    "name",
    "seven77",
    "eight888",
    "nine99999",
    "sixteen_16161616",
    "seventeen_1717171",
    "thirty-two_letters_are_quite_alot",
    "thirty-two_letters_are_quite_alit",
    "thirty-three_letters_are_no_fewer",
    "a_name_that_is_longer_than_sixty-four_bytes_has_to_be_compared_whole_all_the_same",
    "n\\u0061me",
    "\\u0069d",
    "e\\\"ght888",
    "Arri\u00e8re",
    "profile_background_color",
};

static const char *const values[] = {
    "1",
    "-0",
    "12345678901234567890",
    "1.5",
    "1e3",
    "true",
    "false",
    "null",
    "\"\"",
    "\"x\"",
    "\"a \\\"b\\\" \\n\"",
    "{}",
    "[]",
    "[ ]",
    "{ }",
    "[1,2,[3]]",
    "{\"a\":{\"b\":[{}]}}",
    "\"\\u00e9\"",
    "\"longer, and with more: {[]}\"",
};

static const char *const types[] = {"any",    "string", "number",       "integer", "boolean",
                                    "object", "array",  "string|null?", "number?", "null"};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

typedef struct generator {
    uint64_t *state;
    nc_buf *out;
    const char *blank;
} generator;

static size_t pick(const generator *m, size_t count) {
    return (size_t)(torture_next(m->state) % count);
}

static void put(const generator *m, const char *text) {
    nc_buf_append(m->out, nc_slice_of(text));
}

static void put_name(const generator *m, size_t index, const char *mark) {
    put(m, "\"");
    put(m, names[index]);
    put(m, mark);
    put(m, "\":");
}

/// Writes the shape of an object: members in the order of `names`, each by chance. Nested objects come last.
static void put_shape(const generator *m, int depth) {
    size_t kind = pick(m, depth > 0 ? 10 : 6);
    if (kind < 6 && depth < 3) {
        put(m, "\"");
        put(m, types[pick(m, COUNT_OF(types))]);
        put(m, "\"");
        return;
    }
    if (kind == 6) {
        put(m, pick(m, 3) == 0 ? "{\"$items\":\"any\",\"$maxItems\":3}" : "{\"$items\":\"any\",\"$minItems\":1}");
        return;
    }
    if (kind == 7) {
        put(m, "[");
        put_shape(m, depth - 1);
        put(m, "]");
        return;
    }
    const char *comma = "";
    put(m, "{");
    if (pick(m, 6) == 0) {
        put(m, "\"$closed\":true");
        comma = ",";
    }
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        // A name that equals another one after unescaping may not be listed twice.
        if (pick(m, 3) == 0 && strchr(names[i], '\\') == NULL) {
            put(m, comma);
            put_name(m, i, pick(m, 2) == 0 ? "?" : "");
            put_shape(m, depth - 1);
            comma = ",";
        }
    }
    put(m, "}");
}

static void put_value(const generator *m, int depth);

static void put_object(const generator *m, int depth) {
    bool is_shuffled = pick(m, 4) == 0;
    const char *comma = "";
    put(m, "{");
    put(m, m->blank);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (pick(m, 3) != 0) {
            put(m, comma);
            put(m, m->blank);
            put_name(m, is_shuffled ? pick(m, COUNT_OF(names)) : i, "");
            put(m, m->blank);
            put_value(m, depth - 1);
            comma = ",";
        }
    }
    put(m, m->blank);
    put(m, "}");
}

static void put_value(const generator *m, int depth) {
    size_t kind = depth > 0 ? pick(m, 6) : 0;
    if (kind < 3) {
        put(m, values[pick(m, COUNT_OF(values))]);
    } else if (kind < 4) {
        put_object(m, depth);
    } else {
        put(m, "[");
        for (size_t i = 0, count = pick(m, 6); i < count; i++) {
            put(m, i == 0 ? "" : ",");
            put(m, m->blank);
            if (kind < 5) {
                put_object(m, depth - 1);
            } else {
                put_value(m, depth - 1);
            }
        }
        put(m, "]");
    }
}

/// Writes the result and the first failure of a check as text.
static void describe(nc_buf *out, const nc_json *json, nc_status status) {
    char line[200];
    const nc_json_failure *failure = nc_json_failure_of(json);
    (void)snprintf(line, sizeof line, "%s %d at %llu\n", nc_status_name(status), (int)failure->fault,
                   (unsigned long long)failure->offset);
    nc_buf_append(out, nc_slice_of(line));
    for (size_t i = 0; i < nc_json_mismatch_count(json); i++) {
        nc_shape_mismatch one = nc_json_mismatch_at(json, i);
        (void)snprintf(line, sizeof line, "%llu %llu:%llu ", (unsigned long long)one.offset,
                       (unsigned long long)one.line, (unsigned long long)one.column);
        nc_buf_append(out, nc_slice_of(line));
        nc_buf_append(out, one.pointer);
        nc_buf_append(out, nc_slice_of(" wanted "));
        nc_buf_append(out, one.wanted);
        nc_buf_append(out, nc_slice_of(", found "));
        nc_buf_append(out, one.found);
        nc_buf_append_byte(out, '\n');
    }
}

/// The shape and the options of a check.
typedef struct rules {
    nc_shape *shape; // NULL: only JSON syntax
    nc_shape_options options;
    nc_json_options json_options;
} rules;

static void check_in_pieces(nc_buf *out, const rules *by, nc_slice text, size_t step) {
    nc_json *json = NULL;
    nc_status status = by->shape != NULL ? nc_json_new_matching(&json, by->shape, &by->options, &by->json_options, NULL)
                                         : nc_json_new(&json, &by->json_options, NULL);
    assert_status(status, NC_OK);
    for (size_t at = 0; at < text.length && status == NC_OK; at += step) {
        size_t left = text.length - at;
        status = nc_json_feed(json, nc_slice_make(text.data + at, left < step ? left : step), NULL);
    }
    status = status == NC_OK ? nc_json_finish(json, NULL) : status;
    nc_buf_reset(out);
    describe(out, json, status);
    nc_json_free(json);
}

/// Checks a text in several ways; `texts` is the storage for the results.
static void check_alike(const rules *by, nc_slice text, size_t step, size_t *matching, nc_buf *texts) {
    const size_t steps[] = {text.length, step, 64};
    check_in_pieces(&texts[0], by, text, 1);
    bool is_right = memcmp(texts[0].data, "NC_OK", 5) == 0;
    *matching += is_right ? 1 : 0;
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        check_in_pieces(&texts[1], by, text, steps[i]);
        if (!nc_slice_is_equal(nc_buf_slice(&texts[0]), nc_buf_slice(&texts[1]))) {
            fail_msg("text %.*s\nbyte by byte: %.*s\nin pieces of %zu: %.*s", (int)text.length, (const char *)text.data,
                     (int)texts[0].length, (const char *)texts[0].data, steps[i], (int)texts[1].length,
                     (const char *)texts[1].data);
        }
    }
    nc_status sends_body_immediately = by->shape != NULL
                                           ? nc_shape_check(by->shape, text, &by->options, &by->json_options, NULL)
                                           : nc_json_check(text, &by->json_options, NULL, NULL);
    assert_int_equal(sends_body_immediately == NC_OK, is_right);
}

static void check_by_chance(uint64_t *state, size_t *matching, nc_buf *texts) {
    static const char *const blanks[] = {"", " ", "\n  "};
    generator m = {state, &texts[2], blanks[torture_next(state) % 3]};
    rules by = {
        .options = {.max_mismatches = MAX_MISMATCHES, .is_lenient = pick(&m, 4) == 0},
        .json_options = {.refuses_duplicate_names = pick(&m, 4) == 0},
    };
    nc_buf_reset(&texts[2]);
    put_shape(&m, 4);
    assert_status(nc_shape_parse(&by.shape, nc_buf_slice(&texts[2]), NULL), NC_OK);
    m.out = &texts[3];
    nc_buf_reset(&texts[3]);
    put_value(&m, 5);
    check_alike(&by, nc_buf_slice(&texts[3]), 1 + pick(&m, 5000), matching, texts);
    nc_shape_release(by.shape);
    by.shape = NULL;
    check_alike(&by, nc_buf_slice(&texts[3]), 1 + pick(&m, 5000), matching, texts);
}

static void shape__batched_members_give_the_same_result_as_single_ones(void **state) {
    uint64_t chance = torture_seed();
    size_t count = (size_t)torture_number("NETCORE_TORTURE_SHAPES", 100);
    size_t matching = 0;
    nc_buf texts[4];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        texts[i] = nc_buf_init(SIZE_MAX);
    }
    for (size_t i = 0; i < count; i++) {
        check_by_chance(&chance, &matching, texts);
    }
    print_message("%zu texts, each with a shape and without; %zu times right\n", count, matching);
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        nc_buf_deinit(&texts[i]);
    }
}

/* --- almost valid --- */

/// A shape with the usual elements: members in order, unknown members, and arrays of scalars, arrays and objects.
static const char list_shape[] =
    "{\"list\":[{\"id\":\"integer\",\"name\":\"string\",\"score\":\"number\",\"isActive\":\"boolean\",\"tags\":["
    "\"string\"],"
    "\"point\":[[\"number\"]],\"place\":{\"street\":\"string\",\"note?\":\"string?\",\"few\":{\"$items\":\"integer\","
    "\"$maxItems\":3}},\"profile_background_color\":\"string?\",\"last?\":\"any\"}],\"count\":\"integer\"}";

static void put_list(const generator *m) {
    put(m, "{\"list\":[");
    for (size_t i = 0, count = 2 + pick(m, 12); i < count; i++) {
        put(m, i == 0 ? "" : ",");
        put(m, m->blank);
        put(m, "{\"id\":");
        put(m, pick(m, 2) == 0 ? "17" : "-505874924095815681");
        put(m, ",\"other\":{\"a\":[1,{}]},\"name\":\"Ayumi \\\"Maeda\\\"\",\"score\":");
        put(m, pick(m, 2) == 0 ? "87.25" : "-0.123456789012345678");
        put(m, ",\"isActive\":true,\"tags\":[");
        put(m, pick(m, 2) == 0 ? "" : "\"first\", \"\"");
        put(m, "],\"point\":[[35.6696,139.7083],[1e3,2]],");
        put(m, m->blank);
        put(m, "\"place\":{\"street\":\"1-2-3\",\"note\":null,\"few\":[1, 2,3]},\"profile_background_color\":null");
        put(m, pick(m, 2) == 0 ? ",\"last\":[{}]}" : "}");
    }
    put(m, "],\"count\":1}");
}

/// Changes, takes out or puts in a byte.
static void mutate_byte(const generator *m, nc_buf *text) {
    static const char letters[] = "{}[],:\"\\ 019-.eEtfnull\n\t\x01\xC3";
    size_t at = pick(m, text->length);
    uint8_t letter = (uint8_t)letters[pick(m, sizeof letters - 1)];
    switch (pick(m, 3)) {
    case 0:
        text->data[at] = letter;
        break;
    case 1:
        memmove(text->data + at, text->data + at + 1, text->length - at - 1);
        text->length--;
        break;
    default:
        nc_buf_append_byte(text, letter);
        memmove(text->data + at + 1, text->data + at, text->length - at - 1);
        text->data[at] = letter;
    }
}

static void shape__a_wrong_byte_gives_the_same_error_batched_and_alone(void **state) {
    static const char *const blanks[] = {"", " ", "\n    "};
    uint64_t chance = torture_seed();
    size_t count = 3 * (size_t)torture_number("NETCORE_TORTURE_SHAPES", 100);
    size_t matching = 0;
    nc_buf texts[3];
    rules by = {.options = {.max_mismatches = MAX_MISMATCHES}};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        texts[i] = nc_buf_init(SIZE_MAX);
    }
    assert_status(nc_shape_parse(&by.shape, nc_slice_of(list_shape), NULL), NC_OK);
    for (size_t i = 0; i < count; i++) {
        generator m = {&chance, &texts[2], blanks[i % 3]};
        nc_buf_reset(&texts[2]);
        put_list(&m);
        size_t right = matching;
        if (i % 10 == 0) {
            check_alike(&by, nc_buf_slice(&texts[2]), 1 + pick(&m, 5000), &matching, texts);
            assert_int_equal(matching, right + 1);
        }
        mutate_byte(&m, &texts[2]);
        check_alike(&by, nc_buf_slice(&texts[2]), 1 + pick(&m, 5000), &matching, texts);
    }
    print_message("%zu texts, %zu of them right\n", count + (count + 9) / 10, matching);
    nc_shape_release(by.shape);
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        nc_buf_deinit(&texts[i]);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(shape__batched_members_give_the_same_result_as_single_ones),
        harness_case(shape__a_wrong_byte_gives_the_same_error_batched_and_alone),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
