/// Covers: store/cache_key.c store/cache_key_text.c store/key_url.c store/canonical_form_sort.c
///
/// Canonical forms of requests. Two forms of one request in different orders are equal. After any change of the request
/// the form differs. An explanation is lines of printable text, also that of arbitrary bytes.
/// Input: flags, method, URL, a name, a value, a scope, a body, then JSON text of the parameters.
#include "input.h"

#include <netcore/cache_key.h>
#include <string.h>

enum { COPIES = 3 };

/// Copies the tree with the values of objects and sets in reverse order.
static void copy_backwards(nc_params *out, const nc_params_item *item, bool makes_sets) {
    nc_params_item children[64];
    size_t count = 0;
    nc_params_cursor cursor = nc_params_children(item);
    while (count < 64 && nc_params_next(&cursor, &children[count])) {
        count++;
    }
    // Not reversed: arrays, objects with equal names, and objects with more members than fit here.
    bool keeps_order = item->kind == NC_PARAMS_ARRAY && !makes_sets;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            keeps_order = keeps_order ||
                          (item->kind == NC_PARAMS_OBJECT && nc_slice_is_equal(children[i].name, children[j].name));
        }
    }
    for (size_t i = 0; i < count; i++) {
        const nc_params_item *child = &children[keeps_order ? i : count - 1 - i];
        switch (child->kind) {
        case NC_PARAMS_NULL:
            nc_params_add_null(out, child->name);
            break;
        case NC_PARAMS_BOOLEAN:
            nc_params_add_boolean(out, child->name, child->boolean);
            break;
        case NC_PARAMS_NUMBER:
            nc_params_add_number(out, child->name, child->content);
            break;
        case NC_PARAMS_INTEGER:
            nc_params_add_integer(out, child->name, child->integer);
            break;
        case NC_PARAMS_STRING:
            nc_params_add_string(out, child->name, child->content);
            break;
        default:
            nc_params_begin(out, child->name,
                            child->kind == NC_PARAMS_ARRAY && makes_sets ? NC_PARAMS_SET : child->kind);
            copy_backwards(out, child, makes_sets);
            nc_params_end(out);
        }
    }
}

/// Copies the tree in the same order, by other calls.
static void copy_forwards(nc_params *out, const nc_params_item *item, bool makes_sets) {
    nc_params twice = nc_params_init(item->kind, 0);
    copy_backwards(&twice, item, makes_sets);
    nc_params_item root = nc_params_root(&twice);
    copy_backwards(out, &root, false);
    nc_params_deinit(&twice);
}

/// Returns true if no container has more than 64 values; copy_backwards() would truncate it.
static bool is_small(const nc_params_item *item) {
    nc_params_cursor cursor = nc_params_children(item);
    nc_params_item child;
    size_t count = 0;
    while (nc_params_next(&cursor, &child)) {
        if (++count > 64 || !is_small(&child)) {
            return false;
        }
    }
    return true;
}

static void check_lines(nc_slice description) {
    nc_buf lines = nc_buf_init(1 << 22);
    nc_error err;
    nc_status status = nc_cache_key_explain(&lines, description, &err);
    CHECK(status == NC_OK && lines.length > 0 && lines.data[lines.length - 1] == '\n');
    CHECK(memcmp(lines.data, "method      ", 12) == 0);
    for (size_t i = 0; i < lines.length; i++) {
        CHECK(lines.data[i] == '\n' || (lines.data[i] >= ' ' && lines.data[i] != 0x7F));
    }
    nc_buf_deinit(&lines);
}

static void check_foreign(nc_slice bytes) {
    nc_buf lines = nc_buf_init(1 << 22);
    nc_error err;
    nc_status status = nc_cache_key_explain(&lines, bytes, &err);
    check_error(&err, status, bytes.length);
    CHECK(status == NC_OK || status == NC_ERR_USAGE || status == NC_ERR_UNSUPPORTED);
    CHECK((status == NC_OK) == (lines.length > 0));
    nc_buf_deinit(&lines);
}

static void check_order(const nc_cache_key_parts *parts, nc_slice described, bool makes_sets) {
    nc_params_item root = nc_params_root(parts->parameters);
    if (!is_small(&root)) {
        return;
    }
    nc_params copies[2] = {nc_params_init(root.kind, 0), nc_params_init(root.kind, 0)};
    nc_buf bytes[2] = {nc_buf_init(1 << 22), nc_buf_init(1 << 22)};
    copy_backwards(&copies[0], &root, makes_sets);
    copy_forwards(&copies[1], &root, makes_sets);
    for (size_t i = 0; i < 2; i++) {
        nc_cache_key_parts other = *parts;
        other.parameters = &copies[i];
        CHECK(nc_cache_key_describe(&bytes[i], &other, NULL) == NC_OK);
    }
    CHECK(nc_slice_is_equal(nc_buf_slice(&bytes[0]), nc_buf_slice(&bytes[1])));
    CHECK(makes_sets || nc_slice_is_equal(nc_buf_slice(&bytes[0]), described));
    for (size_t i = 0; i < 2; i++) {
        nc_buf_deinit(&bytes[i]);
        nc_params_deinit(&copies[i]);
    }
}

/// Moves the last byte of the scope to the front of the body. That is another request, so its form must differ.
static void check_shifted(const nc_cache_key_parts *parts, nc_slice described) {
    nc_cache_key_parts other = *parts;
    nc_buf bytes = nc_buf_init(1 << 22);
    if (other.scope.length > 0) {
        other.scope.length--;
        CHECK(nc_cache_key_describe(&bytes, &other, NULL) == NC_OK);
        CHECK(!nc_slice_is_equal(nc_buf_slice(&bytes), described));
        nc_buf_reset(&bytes);
        other.body = parts->scope;
        CHECK(nc_cache_key_describe(&bytes, &other, NULL) == NC_OK);
        CHECK(!nc_slice_is_equal(nc_buf_slice(&bytes), described));
    }
    nc_buf_deinit(&bytes);
}

static nc_digest *md5;

/// The name is OpenSSL's digest of the bytes, in the spelling of nc_hex_encode().
static void check_name(nc_slice described) {
    uint8_t bytes[NC_DIGEST_MAX_BYTES];
    nc_cache_key key;
    nc_buf digits = nc_buf_init(64);
    CHECK(nc_cache_key_name(&key, md5, described, NULL) == NC_OK);
    CHECK(nc_digest_of(bytes, md5, described, NULL) == NC_OK);
    nc_hex_encode(&digits, nc_slice_make(bytes, NC_MD5_BYTES));
    CHECK(nc_slice_is_equal(nc_buf_slice(&digits), nc_slice_of(key.text)));
    nc_buf_deinit(&digits);
}

/// Incomplete parameters, numbers without digits at any depth, and a buffer that is too small are rejected.
static void check_refused(const nc_cache_key_parts *parts, bool is_deep, size_t max_bytes) {
    nc_params_item root = nc_params_root(parts->parameters);
    nc_params params = nc_params_init(root.kind, 0);
    nc_cache_key_parts other = *parts;
    nc_buf bytes = nc_buf_init(1 << 22);
    other.parameters = &params;
    copy_backwards(&params, &root, false);
    nc_params_begin(&params, nc_slice_of("~"), is_deep ? NC_PARAMS_OBJECT : NC_PARAMS_SET);
    nc_params_add_bytes(&params, nc_slice_of("x"), parts->scope);
    CHECK(nc_cache_key_describe(&bytes, &other, NULL) == NC_ERR_USAGE && bytes.length == 0);
    nc_params_add_double(&params, nc_slice_of("y"), __builtin_inf());
    nc_params_end(&params);
    CHECK(nc_cache_key_describe(&bytes, &other, NULL) == NC_ERR_BAD_PARAMETER && bytes.length == 0);
    nc_buf small = nc_buf_init(max_bytes);
    CHECK(nc_cache_key_describe(&small, parts, NULL) == NC_ERR_TOO_LARGE && small.length == 0);
    nc_buf_deinit(&small);
    nc_buf_deinit(&bytes);
    nc_params_deinit(&params);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    CHECK(nc_digest_new(&md5, NC_DIGEST_MD5, NULL) == NC_OK);
    memory_count_blocks();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    uint8_t flags = input_byte(&in);
    nc_cache_key_parts parts = {.has_body = (flags & 1) != 0};
    nc_header header;
    parts.method = input_piece(&in);
    parts.url = input_piece(&in);
    header.name = input_piece(&in);
    header.value = input_piece(&in);
    // Many fields of one name, in two spellings, make the order of fields matter.
    nc_header headers[40] = {header, {nc_slice_of("Zz"), nc_slice_of("1")}, {nc_slice_of("aa"), nc_slice_of("")}};
    for (size_t i = COPIES; i < 40; i++) {
        headers[i] = headers[i % COPIES];
    }
    parts.headers = headers;
    parts.header_count = (flags & 2) != 0 ? COPIES : (flags & 4) != 0 ? 40 : 0;
    parts.scope = input_piece(&in);
    parts.body = input_piece(&in);
    nc_slice json = input_rest(&in);
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    bool has_params = nc_params_parse_json(&params, json, NULL) == NC_OK;
    parts.parameters = has_params ? &params : NULL;
    nc_buf bytes = nc_buf_init(1 << 22);
    nc_error err;
    check_foreign(json);
    if (parts.url.data == NULL) {
        parts.url = nc_slice_of("");
    }
    nc_status status = nc_cache_key_describe(&bytes, &parts, &err);
    check_error(&err, status, parts.url.length + 40);
    if (status == NC_OK) {
        nc_slice described = nc_buf_slice(&bytes);
        check_lines(described);
        check_shifted(&parts, described);
        check_name(described);
        if (has_params) {
            check_order(&parts, described, (flags & 8) != 0);
            check_refused(&parts, (flags & 16) != 0, described.length / 2);
        }
    } else {
        CHECK(bytes.length == 0);
        CHECK(status == NC_ERR_BAD_URL || status == NC_ERR_BAD_METHOD || status == NC_ERR_BAD_HEADER);
    }
    nc_buf_deinit(&bytes);
    nc_params_deinit(&params);
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
