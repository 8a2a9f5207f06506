#include "json/shape_node.h"

#include <string.h>

static uint16_t type_of(nc_slice word) {
    static const struct {
        const char *word;
        uint16_t types;
    } known[] = {
        {"any", NC_TYPE_ANY},         {"string", NC_TYPE_STRING},   {"number", NC_TYPE_NUMBER},
        {"integer", NC_TYPE_INTEGER}, {"boolean", NC_TYPE_BOOLEAN}, {"null", NC_TYPE_NULL},
        {"object", NC_TYPE_OBJECT},   {"array", NC_TYPE_ARRAY},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (nc_slice_is_equal(word, nc_slice_of(known[i].word))) {
            return known[i].types;
        }
    }
    return 0;
}

bool nc_shape_parse_types(uint16_t *out, nc_slice text) {
    uint16_t types = 0;
    if (text.length > 0 && text.data[text.length - 1] == '?') {
        types = NC_TYPE_NULL;
        text.length--;
    }
    size_t at = 0;
    for (;;) {
        if (at >= text.length) {
            return false; // An empty alternative, such as after a last '|'.
        }
        const uint8_t *bar = memchr(text.data + at, '|', text.length - at);
        size_t end = bar == NULL ? text.length : (size_t)(bar - text.data);
        uint16_t type = type_of(nc_slice_make(text.data + at, end - at));
        if (type == 0) {
            return false;
        }
        types |= type;
        if (bar == NULL) {
            *out = types;
            return true;
        }
        at = end + 1;
    }
}

void nc_shape_parse_name(nc_buf *out, bool *is_optional, nc_slice written) {
    size_t at = written.length > 0 && written.data[0] == '$' ? 1 : 0; // "$$name" is the member "$name".
    *is_optional = false;
    for (; at < written.length; at++) {
        bool is_mark = written.data[at] == '?';
        bool is_last = at + 1 == written.length;
        if (is_mark && is_last) {
            *is_optional = true;
            return;
        }
        if (is_mark && written.data[at + 1] == '?') {
            at++;
        }
        nc_buf_append_byte(out, written.data[at]);
    }
}
