/// Covers: ../CNetCJSON/read.c ../CNetCJSON/number.c ../CNetCJSON/duplicates.c ../CNetCJSON/write.c
/// Covers: ../CNetCJSON/params.c
///
/// A text is read exactly if nc_json_check() accepts it, or a value is refused. What is read can be written, and the
/// written text is read as the same tree. Without duplicate names the tree is the one of cJSON_Parse().
/// Input: options (one byte), the text.
#include "input.h"

#include <netcore/cjson.h>
#include <netcore/json_writer.h>
#include <string.h>

static nc_buf write(const cJSON *tree) {
    nc_buf out = nc_buf_init(SIZE_MAX);
    nc_error err;
    CHECK(nc_cjson_write(&out, tree, &err) == NC_OK);
    return out;
}

/// Reads the written text again: it must give the same text.
static void check_round_trip(const cJSON *tree, const nc_cjson_options *options) {
    nc_buf first = write(tree);
    cJSON *again = NULL;
    nc_error err;
    CHECK(nc_cjson_read(nc_buf_slice(&first), options, &again, &err) == NC_OK);
    nc_buf second = write(again);
    CHECK(nc_slice_is_equal(nc_buf_slice(&first), nc_buf_slice(&second)));
    CHECK(cJSON_Compare(tree, again, true));
    cJSON_Delete(again);
    nc_buf_deinit(&first);
    nc_buf_deinit(&second);
}

static void check_parameters(const cJSON *tree) {
    nc_params params = nc_params_init(NC_PARAMS_ARRAY, 0);
    nc_buf text = nc_buf_init(SIZE_MAX);
    nc_json_style style = {.keeps_slashes = true};
    nc_error err;
    nc_status status = nc_params_add_cjson(&params, nc_slice_of(""), tree, &err);
    CHECK(status == NC_OK || status == NC_ERR_TOO_LARGE); // parameters have a smaller depth
    if (status == NC_OK) {
        nc_buf written = write(tree);
        CHECK(nc_json_write(&text, &params, &style, &err) == NC_OK);
        CHECK(text.length >= 2);
        nc_json_failure failure;
        CHECK(nc_json_check(nc_buf_slice(&text), NULL, &failure, &err) == NC_OK);
        nc_buf_deinit(&written);
    }
    nc_buf_deinit(&text);
    nc_params_deinit(&params);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    memory_count_blocks();
    input in = input_init(data, size);
    uint8_t bits = input_byte(&in);
    nc_cjson_options options = {.keeps_raw = bits & 1, .json.refuses_duplicate_names = bits & 2};
    nc_slice text = input_rest(&in);
    nc_error err;
    cJSON *tree = NULL;
    size_t before = memory_live_blocks();
    nc_status checked = nc_json_check(text, &options.json, NULL, NULL);
    nc_status status = nc_cjson_read(text, &options, &tree, &err);
    check_error(&err, status, text.length);
    CHECK((tree != NULL) == (status == NC_OK));
    CHECK(status == checked || (status == NC_ERR_BAD_PARAMETER && !options.keeps_raw));
    if (tree != NULL) {
        check_round_trip(tree, &options);
        check_parameters(tree);
        if (options.json.refuses_duplicate_names && !options.keeps_raw) {
            cJSON *theirs = cJSON_ParseWithLength((const char *)text.data, text.length);
            // cJSON refuses numbers of 64 characters or more.
            CHECK(theirs == NULL || cJSON_Compare(tree, theirs, true));
            cJSON_Delete(theirs);
        }
        cJSON_Delete(tree);
    }
    CHECK(memory_live_blocks() == before);
    input_deinit(&in);
    return 0;
}
