/// Different requests have different canonical forms. The test cuts many texts in every way into the pieces of a
/// request, and finds no canonical form twice. NETCORE_TUPLES sets the number of tuples (script/torture keys).
#include "harness.h"
#include "torture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TEXT_BYTES = 8,
    PIECES = 5,
    SHAPES = 8,
    DEFAULT_TUPLES = 100000,
    /// Ways to choose PIECES - 1 ordered cuts from TEXT_BYTES + 1 positions.
    CUTS = 495,
};

/// The bytes of the layout: tags, lengths, line ends, and two letters.
static const uint8_t alphabet[] = {'m', 'u', 'h', 'p', 's', 'n', 'o', 'a', 'e',  'w',
                                   'b', 'z', 0,   1,   2,   3,   4,   5,   0x80, 0xFF};

/// The pieces of tuple `index`: a shape, a text, and its cuts. Each number gives another tuple.
typedef struct tuple {
    size_t shape;
    uint8_t text[TEXT_BYTES];
    nc_slice pieces[PIECES];
} tuple;

/// All non-decreasing sequences of cuts, computed once.
static uint8_t cuts[CUTS][PIECES - 1];

static void make_cuts(void) {
    size_t count = 0;
    for (uint8_t a = 0; a <= TEXT_BYTES; a++) {
        for (uint8_t b = a; b <= TEXT_BYTES; b++) {
            for (uint8_t c = b; c <= TEXT_BYTES; c++) {
                for (uint8_t d = c; d <= TEXT_BYTES; d++) {
                    const uint8_t row[PIECES - 1] = {a, b, c, d};
                    memcpy(cuts[count++], row, sizeof row);
                }
            }
        }
    }
    assert_int_equal(count, CUTS);
}

static void make_tuple(tuple *out, uint64_t index) {
    const uint8_t *row = cuts[index % CUTS];
    index /= CUTS;
    out->shape = (size_t)(index % SHAPES);
    index /= SHAPES;
    for (size_t i = 0; i < TEXT_BYTES; i++) {
        out->text[i] = alphabet[index % sizeof alphabet];
        index /= sizeof alphabet;
    }
    size_t start = 0;
    for (size_t i = 0; i < PIECES; i++) {
        size_t end = i + 1 < PIECES ? row[i] : TEXT_BYTES;
        out->pieces[i] = nc_slice_make(out->text + start, end - start);
        start = end;
    }
}

/// Adds parameters that differ in depth, in kind, and in which piece is a name.
static void add_parameters(nc_params *params, const tuple *from) {
    const nc_slice *pieces = from->pieces;
    nc_params_reset(params, NC_PARAMS_OBJECT);
    switch (from->shape) {
    case 0: // one name
        nc_params_add_string(params, pieces[0], pieces[1]);
        break;
    case 1: // equal text as bytes
        nc_params_add_bytes(params, pieces[0], pieces[1]);
        break;
    case 2: // an array of two
        nc_params_begin(params, pieces[0], NC_PARAMS_ARRAY);
        nc_params_add_string(params, pieces[0], pieces[1]);
        nc_params_add_string(params, pieces[0], pieces[2]);
        nc_params_end(params);
        break;
    case 3: // an array of one, and a name after it
        nc_params_begin(params, pieces[0], NC_PARAMS_ARRAY);
        nc_params_add_string(params, pieces[0], pieces[1]);
        nc_params_end(params);
        nc_params_add_string(params, pieces[0], pieces[2]);
        break;
    case 4: // an object inside
        nc_params_begin(params, pieces[0], NC_PARAMS_OBJECT);
        nc_params_add_string(params, pieces[1], pieces[2]);
        nc_params_end(params);
        break;
    case 5: // a set of one
        nc_params_begin(params, pieces[0], NC_PARAMS_SET);
        nc_params_add_string(params, pieces[0], pieces[1]);
        nc_params_end(params);
        break;
    case 6: // no value
        nc_params_add_null(params, pieces[0]);
        nc_params_add_boolean(params, pieces[1], true);
        break;
    default: // none: see describe()
        break;
    }
}

/// Spells each byte as two letters, because a token and a URL do not allow every byte.
static nc_slice spelled(char *text, size_t prefix, nc_slice piece) {
    for (size_t i = 0; i < piece.length; i++) {
        text[prefix + 2 * i] = (char)('a' + piece.data[i] / 16);
        text[prefix + 2 * i + 1] = (char)('a' + piece.data[i] % 16);
    }
    return nc_slice_make(text, prefix + 2 * piece.length);
}

static void describe(nc_buf *out, nc_params *params, uint64_t index) {
    tuple from;
    char method[2 + 2 * TEXT_BYTES] = "M";
    char url[16 + 2 * TEXT_BYTES] = "http://h/";
    char name[2 + 2 * TEXT_BYTES] = "n";
    char value[2 + 2 * TEXT_BYTES] = "";
    make_tuple(&from, index);
    add_parameters(params, &from);
    nc_cache_key_parts parts = {.url = spelled(url, 9, from.pieces[3]), .scope = from.pieces[4], .parameters = params};
    nc_header header;
    if (from.shape == SHAPES - 1) {
        header = (nc_header){spelled(name, 1, from.pieces[1]), spelled(value, 0, from.pieces[2])};
        parts.method = spelled(method, 1, from.pieces[0]);
        parts.headers = &header;
        parts.header_count = 1;
        parts.parameters = NULL;
    } else {
        parts.body = from.shape % 2 == 0 ? nc_slice_make(NULL, 0) : from.pieces[2];
        parts.has_body = from.shape % 2 != 0;
    }
    nc_buf_reset(out);
    nc_error err;
    assert_status(nc_cache_key_describe(out, &parts, &err), NC_OK);
}

/// Returns false if a shape omits a piece, because two tuples would be the same request. The pieces of the URL and
/// the user's name are always used. Shapes 0, 1, 5 and 6 omit the third piece if they have no body.
static bool is_complete(const tuple *from) {
    bool uses_third = from->shape == 2 || from->shape == 3 || from->shape == 4 || from->shape % 2 != 0;
    return uses_third || from->pieces[2].length == 0;
}

static uint64_t fingerprint(nc_slice bytes) {
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < bytes.length; i++) {
        hash = torture_mix(hash, bytes.data[i]);
    }
    return hash == 0 ? 1 : hash;
}

/// Descriptions that were seen, by fingerprint; of two with one fingerprint the bytes are compared.
typedef struct table {
    uint64_t *hashes;
    uint64_t *indices;
    size_t mask;
} table;

static table table_of(uint64_t tuples) {
    size_t slots = 1024;
    while (slots < tuples + tuples / 2) {
        slots *= 2;
    }
    table out = {calloc(slots, sizeof(uint64_t)), malloc(slots * sizeof(uint64_t)), slots - 1};
    assert_non_null(out.hashes);
    assert_non_null(out.indices);
    return out;
}

static void fail_pair(uint64_t a, uint64_t b) {
    fail_msg("tuples %llu and %llu have one description", (unsigned long long)a, (unsigned long long)b);
}

static void cache_key__different_requests_have_different_keys(void **state) {
    (void)state;
    uint64_t tuples = torture_number("NETCORE_TUPLES", DEFAULT_TUPLES);
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_buf bytes = nc_buf_init(10000);
    nc_buf other = nc_buf_init(10000);
    table seen = table_of(tuples);
    uint64_t met = 0;
    make_cuts();
    for (uint64_t index = 0; met < tuples; index++) {
        tuple from;
        make_tuple(&from, index);
        if (!is_complete(&from)) {
            continue;
        }
        met++;
        describe(&bytes, &params, index);
        uint64_t hash = fingerprint(nc_buf_slice(&bytes));
        size_t slot = (size_t)hash & seen.mask;
        for (; seen.hashes[slot] != 0; slot = (slot + 1) & seen.mask) {
            if (seen.hashes[slot] == hash) {
                describe(&other, &params, seen.indices[slot]);
                if (nc_slice_is_equal(nc_buf_slice(&bytes), nc_buf_slice(&other))) {
                    fail_pair(seen.indices[slot], index);
                }
            }
        }
        seen.hashes[slot] = hash;
        seen.indices[slot] = index;
    }
    printf("%llu tuples, no two descriptions alike\n", (unsigned long long)met);
    free(seen.hashes);
    free(seen.indices);
    nc_buf_deinit(&bytes);
    nc_buf_deinit(&other);
    nc_params_deinit(&params);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(cache_key__different_requests_have_different_keys),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
