/// The program that measures NetKit: core check|shape|schema|pieces|shape-pieces|duplicates DOCUMENT
/// [SHAPE or SCHEMA] [BLOCK-SCANNER].
#include "timing.h"
#include "json/scanner.h"

#include <netcore.h>

enum { PIECE_BYTES = 16384 };

typedef struct task {
    nc_shape *shape;
    nc_json *json; // for a check in pieces, or with a shape
    nc_json_options options;
    size_t piece_bytes;
} task;

static int once(void *ctx, const document *doc) {
    task *one = ctx;
    nc_slice whole = nc_slice_make(doc->bytes, doc->length);
    if (one->shape != NULL && one->piece_bytes == doc->length) {
        return nc_shape_check(one->shape, whole, NULL, NULL, NULL) == NC_OK;
    }
    if (one->json == NULL) {
        return nc_json_check(whole, &one->options, NULL, NULL) == NC_OK;
    }
    nc_json_reset(one->json);
    for (size_t at = 0; at < doc->length; at += one->piece_bytes) {
        size_t left = doc->length - at;
        size_t length = left < one->piece_bytes ? left : one->piece_bytes;
        if (nc_json_feed(one->json, nc_slice_make(doc->bytes + at, length), NULL) != NC_OK) {
            return 0;
        }
    }
    return nc_json_finish(one->json, NULL) == NC_OK;
}

int main(int count, char **arguments) {
    if (count > 1 && strcmp(arguments[1], "--which") == 0) {
        printf("blocks by %s\n", nc_block_scanner_best()->name);
        return 0;
    }
    if (count < 3) {
        return 2;
    }
    const char *mode = arguments[1];
    document doc = read_document(arguments[2]);
    task one = {.piece_bytes = strstr(mode, "pieces") != NULL ? PIECE_BYTES : doc.length};
    if (strstr(mode, "shape") != NULL && count > 3) {
        document shape = read_document(arguments[3]);
        if (nc_shape_parse(&one.shape, nc_slice_make(shape.bytes, shape.length), NULL) != NC_OK ||
            nc_json_new_matching(&one.json, one.shape, NULL, NULL, NULL) != NC_OK) {
            return 3;
        }
    } else if (strcmp(mode, "schema") == 0 && count > 3) {
        document text = read_document(arguments[3]);
        nc_schema *schema = NULL;
        if (nc_schema_compile(&schema, nc_slice_make(text.bytes, text.length), NULL, NULL) != NC_OK ||
            nc_json_new_with_schema(&one.json, schema, NULL, NULL, NULL) != NC_OK) {
            return 3;
        }
    } else if (strcmp(mode, "pieces") == 0 && nc_json_new(&one.json, NULL, NULL) != NC_OK) {
        return 3;
    }
    one.options.refuses_duplicate_names = strcmp(mode, "duplicates") == 0;
    for (size_t i = 0; i < nc_block_scanner_count && count > 4; i++) {
        if (strcmp(arguments[4], nc_block_scanners[i].name) == 0 && nc_block_scanners[i].is_supported()) {
            nc_block_scanner_select(&nc_block_scanners[i]);
        }
    }
    time_document(&doc, once, &one);
    return 0;
}
