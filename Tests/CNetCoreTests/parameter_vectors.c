#include "parameter_vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

nc_params parameter_vectors(const char *name) {
    const char *slash = strrchr(__FILE__, '/');
    char path[512];
    (void)snprintf(path, sizeof path, "%.*s/../Vectors/%s", (int)(slash - __FILE__), __FILE__, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fail_msg("%s cannot be read", path);
    }
    nc_buf text = nc_buf_init(1 << 20);
    uint8_t piece[4096];
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0;) {
        nc_buf_append(&text, nc_slice_make(piece, got));
    }
    (void)fclose(file);
    nc_params vectors = nc_params_init(NC_PARAMS_ARRAY, 0);
    nc_error err;
    if (nc_params_parse_json(&vectors, nc_buf_slice(&text), &err) != NC_OK) {
        fail_msg("%s: %s", path, err.message);
    }
    nc_buf_deinit(&text);
    return vectors;
}

bool parameter_field(const nc_params_item *object, const char *name, nc_params_item *out) {
    nc_params_cursor cursor = nc_params_children(object);
    nc_params_item item;
    while (nc_params_next(&cursor, &item)) {
        if (nc_slice_is_equal(item.name, nc_slice_of(name))) {
            *out = item;
            return true;
        }
    }
    return false;
}

static bool is_among(const nc_params_item *names, nc_slice name) {
    nc_params_cursor cursor = nc_params_children(names);
    nc_params_item item;
    while (nc_params_next(&cursor, &item)) {
        if (nc_slice_is_equal(item.content, name)) {
            return true;
        }
    }
    return false;
}

static void add(nc_params *params, const nc_params_item *item, const nc_params_item *sets);

static void add_children(nc_params *params, const nc_params_item *container, const nc_params_item *sets) {
    nc_params_cursor cursor = nc_params_children(container);
    nc_params_item item;
    while (nc_params_next(&cursor, &item)) {
        add(params, &item, sets);
    }
}

static void add(nc_params *params, const nc_params_item *item, const nc_params_item *sets) {
    switch (item->kind) {
    case NC_PARAMS_BOOLEAN:
        nc_params_add_boolean(params, item->name, item->boolean);
        break;
    case NC_PARAMS_NUMBER:
        nc_params_add_number(params, item->name, item->content);
        break;
    case NC_PARAMS_STRING:
        nc_params_add_string(params, item->name, item->content);
        break;
    case NC_PARAMS_NULL:
        nc_params_add_null(params, item->name);
        break;
    default:
        nc_params_begin(params, item->name, sets != NULL && is_among(sets, item->name) ? NC_PARAMS_SET : item->kind);
        add_children(params, item, NULL);
        nc_params_end(params);
    }
}

nc_params parameter_copy(const nc_params_item *item, const nc_params_item *sets) {
    nc_params copy = nc_params_init(item->kind, 0);
    add_children(&copy, item, sets);
    assert_status(nc_params_status(&copy), NC_OK);
    return copy;
}

/// Returns the index of a word in an array that ends with NULL.
static unsigned index_in(nc_slice word, const char *const words[]) {
    for (unsigned i = 0; words[i] != NULL; i++) {
        if (nc_slice_is_equal(word, nc_slice_of(words[i]))) {
            return i;
        }
    }
    fail_msg("'%.*s' is no option", (int)word.length, (const char *)word.data);
    return 0;
}

static unsigned choice(const nc_params_item *options, const char *name, const char *const words[]) {
    nc_params_item item;
    return options != NULL && parameter_field(options, name, &item) ? index_in(item.content, words) : 0;
}

nc_query_options parameter_options(const nc_params_item *options) {
    static const char *const arrays[] = {"brackets", "indexed", "repeat", "comma", NULL};
    static const char *const nested[] = {"brackets", "dots", NULL};
    static const char *const orders[] = {"sorted", "given", NULL};
    static const char *const booleans[] = {"numbers", "words", NULL};
    static const char *const spaces[] = {"percent", "plus", NULL};
    return (nc_query_options){.names = {.arrays = (nc_array_style)choice(options, "arrays", arrays),
                                        .nested = (nc_nested_style)choice(options, "nested", nested),
                                        .order = (nc_order)choice(options, "order", orders)},
                              .booleans = (nc_boolean_style)choice(options, "booleans", booleans),
                              .spaces = (nc_space_style)choice(options, "spaces", spaces)};
}
