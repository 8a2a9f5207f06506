#include "text/value_check.h"
#include "base/error.h"
#include "base/utf8.h"
#include "text/number.h"

static int shown(nc_slice path) {
    return (int)(path.length < NC_PATH_SHOWN_BYTES ? path.length : NC_PATH_SHOWN_BYTES);
}

nc_status nc_value_refuse(nc_slice path, const char *what, int64_t offset, nc_error *err) {
    const char *text = path.length == 0 ? "" : (const char *)path.data;
    return nc_error_set(err, NC_ERR_BAD_PARAMETER, 0, offset, "'%.*s': %s", shown(path), text, what);
}

nc_status nc_value_check_name(nc_slice path, nc_slice name, nc_error *err) {
    size_t good = nc_utf8_span(name.data, name.length);
    return good == name.length ? NC_OK : nc_value_refuse(path, "the name is not UTF-8", (int64_t)good, err);
}

nc_status nc_value_check(nc_slice path, const nc_params_item *item, nc_error *err) {
    if (item->kind == NC_PARAMS_STRING) {
        size_t good = nc_utf8_span(item->content.data, item->content.length);
        if (good != item->content.length) {
            return nc_value_refuse(path, "the text is not UTF-8", (int64_t)good, err);
        }
    } else if (item->kind == NC_PARAMS_NUMBER && !nc_number_is_valid(item->content)) {
        return nc_value_refuse(path, "the number is none", 0, err);
    } else if (item->kind == NC_PARAMS_DOUBLE && item->number - item->number != 0) {
        return nc_value_refuse(path, "the number is not finite", 0, err);
    }
    return NC_OK;
}
