/// Parses and deletes with cJSON: cjson DOCUMENT.
#include "timing.h"

#include <cjson/cJSON.h>

static int once(void *ctx, const document *doc) {
    cJSON *tree = cJSON_ParseWithLength((const char *)doc->bytes, doc->length);
    (void)ctx;
    cJSON_Delete(tree);
    return tree != NULL;
}

int main(int count, char **arguments) {
    if (count < 2) {
        return 2;
    }
    document doc = read_document(arguments[1]);
    time_document(&doc, once, NULL);
    return 0;
}
