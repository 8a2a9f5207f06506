/// simdjson's DOM, with its parser and padded text reused: simdjson DOCUMENT, or simdjson --which.
#include "timing.h"

#include <simdjson.h>

static int once(void *ctx, const document *doc) {
    auto *parser = static_cast<simdjson::dom::parser *>(ctx);
    simdjson::dom::element root;
    return parser->parse(doc->bytes, doc->length, false).get(root) == simdjson::SUCCESS;
}

int main(int count, char **arguments) {
    if (count < 2) {
        return 2;
    }
    if (strcmp(arguments[1], "--which") == 0) {
        printf("simdjson %s (%s)\n", SIMDJSON_STRINGIFY(SIMDJSON_VERSION),
               simdjson::get_active_implementation()->name().c_str());
        return 0;
    }
    document doc = read_document(arguments[1]);
    simdjson::dom::parser parser;
    time_document(&doc, once, &parser);
    return 0;
}
