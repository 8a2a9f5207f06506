/// Reads into a tree of cJSON and deletes it: tree DOCUMENT.
#include "timing.h"

#include <netcore/cjson.h>

static int once(void *ctx, const document *doc) {
    cJSON *tree = NULL;
    nc_cjson_options options = {.keeps_raw = true}; // some of the numbers are beyond 2^53
    nc_status status = nc_cjson_read(nc_slice_make(doc->bytes, doc->length), &options, &tree, NULL);
    (void)ctx;
    cJSON_Delete(tree);
    return status == NC_OK;
}

int main(int count, char **arguments) {
    if (count < 2) {
        return 2;
    }
    document doc = read_document(arguments[1]);
    time_document(&doc, once, NULL);
    return 0;
}
