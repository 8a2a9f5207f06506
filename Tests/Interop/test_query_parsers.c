/// Every byte in names and values of queries and forms, as Python's and node's parsers read them.
#include "parsers.h"

#include <netcore/query.h>
#include <string.h>

/// Encodes a byte's code point as UTF-8; Latin-1 is the first 256 code points.
static nc_slice as_text(uint8_t byte, uint8_t room[2]) {
    room[0] = byte < 0x80 ? byte : (uint8_t)(0xC0 | byte >> 6);
    room[1] = (uint8_t)(0x80 | (byte & 63));
    return nc_slice_make(room, byte < 0x80 ? 1 : 2);
}

/// Adds a case: the query of these parameters, and its meaning.
static void add_case(parser_cases *cases, const char *kind, const nc_params *params, nc_space_style spaces) {
    nc_query_options options = {.names = {.order = NC_ORDER_AS_GIVEN}, .spaces = spaces};
    nc_buf query = nc_buf_init(1 << 20);
    nc_error err;
    assert_status(nc_query_append(&query, params, &options, &err), NC_OK);
    parser_add(cases, kind);
    parser_add_hex(cases, nc_buf_slice(&query));
    nc_params_item root = nc_params_root(params);
    nc_params_cursor cursor = nc_params_children(&root);
    nc_params_item item;
    while (nc_params_next(&cursor, &item)) {
        nc_params_digits digits;
        parser_add_hex(cases, item.name);
        parser_add_hex(cases, nc_params_text(&item, &digits));
    }
    parser_end_line(cases);
    nc_buf_deinit(&query);
}

/// Adds each code point up to U+00FF alone, twice, and between letters, in name and value; then all of them.
static void add_texts(parser_cases *cases, nc_space_style spaces) {
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    nc_buf all = nc_buf_init(4096);
    for (unsigned byte = 0; byte < 256; byte++) {
        uint8_t room[2];
        nc_slice one = as_text((uint8_t)byte, room);
        nc_buf_append(&all, one);
        nc_buf inner = nc_buf_init(64);
        nc_buf_append(&inner, one);
        nc_buf_append(&inner, nc_slice_of("some words"));
        nc_buf_append(&inner, one);
        nc_buf_append(&inner, nc_slice_of("more of them"));
        nc_buf_append(&inner, one);
        nc_params_reset(&params, NC_PARAMS_OBJECT);
        nc_params_add_string(&params, one, nc_buf_slice(&inner));
        nc_params_add_string(&params, nc_buf_slice(&inner), one);
        nc_params_add_null(&params, one);
        add_case(cases, "text", &params, spaces);
        nc_buf_deinit(&inner);
    }
    nc_params_reset(&params, NC_PARAMS_OBJECT);
    nc_params_add_string(&params, nc_buf_slice(&all), nc_buf_slice(&all));
    nc_params_add_string(&params, nc_slice_of(""), nc_slice_of("no name"));
    nc_params_add_string(&params, nc_slice_of("no value"), nc_slice_of(""));
    nc_params_add_string(&params, nc_slice_of("\xF0\x9F\x98\x80"), nc_slice_of("\xEF\xBF\xBF\xE2\x80\x8D"));
    nc_params_add_double(&params, nc_slice_of("number"), -1.5e300);
    add_case(cases, "text", &params, spaces);
    nc_buf_deinit(&all);
    nc_params_deinit(&params);
}

/// Adds each byte as a value without a charset.
static void add_bytes(parser_cases *cases) {
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    uint8_t all[256];
    for (unsigned byte = 0; byte < 256; byte++) {
        all[byte] = (uint8_t)byte;
        nc_params_add_bytes(&params, nc_slice_of("byte"), nc_slice_make(&all[byte], 1));
    }
    nc_params_add_bytes(&params, nc_slice_of("all"), nc_slice_make(all, sizeof all));
    add_case(cases, "bytes", &params, NC_SPACES_PERCENT);
    nc_params_deinit(&params);
}

static void assert_all_agree(const char *const *program) {
    parser_cases cases = parser_begin();
    add_texts(&cases, NC_SPACES_PERCENT);
    add_texts(&cases, NC_SPACES_PLUS);
    add_bytes(&cases);
    bool agrees = parser_agrees(program, &cases);
    parser_deinit(&cases);
    assert_true(agrees);
}

static void query_parsers__python_reads_back_every_byte(void **state) {
    (void)state;
    assert_all_agree((const char *[]){INTEROP_PYTHON, parser_script("queries.py"), NULL});
}

static void query_parsers__node_reads_back_every_byte(void **state) {
    (void)state;
    assert_all_agree((const char *[]){"node", parser_script("queries.mjs"), NULL});
}

static int begin(void **state) {
    (void)state;
    servers_begin();
    return 0;
}

static int end(void **state) {
    (void)state;
    servers_end();
    return 0;
}

int main(void) {
    harness_begin();
    bool has_python = server_is_installed(INTEROP_PYTHON);
    bool has_node = server_is_installed("node");
    const struct CMUnitTest with_python = harness_case(query_parsers__python_reads_back_every_byte);
    const struct CMUnitTest with_node = harness_case(query_parsers__node_reads_back_every_byte);
    // Each installed parser is tested, also without the other one.
    const struct CMUnitTest cases[] = {has_python ? with_python : with_node, with_node};
    size_t count = (has_python ? 1u : 0u) + (has_node ? 1u : 0u);
    int failures = count == 0 ? 0 : _cmocka_run_group_tests("query parsers", cases, count, begin, end);
    if (failures == 0 && count < 2) {
        return server_missing(has_python ? "node" : INTEROP_PYTHON);
    }
    return failures;
}
